"""A coroutine that begins before its task has a turn, as those of Python 3.12 can."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Generator
from typing import Any

#: There is nothing that its task has not heard of.
_HEARD = object()


class Begun(Coroutine[Any, Any, Any]):
    """A coroutine that was begun, for its task to go on with."""

    __slots__ = ("awaited", "coroutine", "raised")

    @classmethod
    def task(cls, loop: Any, caller: Any, coroutine: Any) -> Any:
        """The task of a coroutine, which has been run until it waits for something. Meanwhile it
        was the current task in the place of its caller, with context variables of its own."""
        context = contextvars.copy_context()
        begun = cls(coroutine)
        made = loop.create_task(begun, context=context)
        asyncio._leave_task(loop, caller)
        asyncio._enter_task(loop, made)
        try:
            begun.awaited = context.run(coroutine.send, None)
        except BaseException as error:  # noqa: BLE001 - for the task, in its turn
            begun.raised = error
        finally:
            asyncio._leave_task(loop, made)
            asyncio._enter_task(loop, caller)
        return made

    def __init__(self, coroutine: Any) -> None:
        self.coroutine = coroutine
        #: What it waits for, until the task has heard of it; `None` is a turn for others.
        self.awaited: Any = _HEARD
        #: How it ended.
        self.raised: BaseException | None = None

    def send(self, value: Any) -> Any:
        awaited, self.awaited = self.awaited, _HEARD
        if awaited is not _HEARD:
            return awaited
        raised, self.raised = self.raised, None
        if raised is not None:
            raise raised
        return self.coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        awaited, self.awaited = self.awaited, _HEARD
        if awaited is not _HEARD and awaited is not None:
            # As a task does with what it waits for when it is cancelled.
            awaited.cancel()
        if self.raised is not None:
            # It has ended, of which its task has not heard: it is the task alone that is stopped.
            self.raised = None
            return super().throw(*error)
        return self.coroutine.throw(*error)

    def close(self) -> None:
        self.coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise TypeError("only its task waits for it")

    def __getattr__(self, name: str) -> Any:
        # What debuggers look for.
        return getattr(self.coroutine, name)
