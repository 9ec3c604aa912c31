"""A coroutine that begins before its task has a turn, as those of Python 3.12 can."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Generator
from typing import Any

#: Tasks as C has them: those in Python, which some put in their place, cannot come later.
_TASK: Any
try:
    from _asyncio import Task as _TASK
except ImportError:
    _TASK = None

#: There is nothing that its task has not heard of.
_HEARD = object()


class Made(asyncio.Task[Any]):
    """A task, with what it was made of until it is."""

    __slots__ = ("_of",)


class Coming(Made):
    """A task that is made when somebody looks at it. Most coroutines are done before anybody does,
    and whoever asks which task is the current one only keeps it and compares it."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        return getattr(made(self), name)

    def __repr__(self) -> str:
        return repr(made(self))

    def __await__(self) -> Any:
        return made(self).__await__()

    __iter__ = __await__


_new: Any = asyncio.Task.__new__
_of: Any = Made.__dict__["_of"]
_get_of = _of.__get__
_set_of = _of.__set__


def made(task: Any) -> Any:
    """The task as one that its loop knows."""
    if type(task) is Coming:
        begun, loop, context = _get_of(task)
        task.__class__ = Made  # type: ignore[assignment]
        _of.__delete__(task)
        asyncio.Task.__init__(task, begun, loop=loop, context=context)
    return task


#: What makes a loop's tasks, where nobody has his own.
_MAKES = asyncio.BaseEventLoop.create_task


class Begun(Coroutine[Any, Any, Any]):
    """A coroutine that was begun, for its task to go on with."""

    __slots__ = ("awaited", "coroutine", "raised")

    @classmethod
    def task(cls, loop: Any, caller: Any, coroutine: Any) -> Any:
        """The task of a coroutine, which has been run until it waits for something. Meanwhile it
        was the current task in the place of its caller, with context variables of its own."""
        context = contextvars.copy_context()
        begun = cls(coroutine)
        if type(loop).create_task is _MAKES and asyncio.Task is _TASK:
            task: Any = _new(Coming)
            _set_of(task, (begun, loop, context))
        else:
            task = loop.create_task(begun, context=context)
        asyncio._leave_task(loop, caller)
        asyncio._enter_task(loop, task)
        try:
            begun.awaited = context.run(coroutine.send, None)
        except BaseException as error:  # noqa: BLE001 - for the task, in its turn
            begun.raised = error
        finally:
            asyncio._leave_task(loop, task)
            asyncio._enter_task(loop, caller)
        return task

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
