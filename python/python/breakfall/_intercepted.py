"""Calls that go through an interceptor: it leads, each execution is guarded, and what leaves it is
answered."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.errors import GraphBubbleUp

from ._failure import Failure
from ._guard import answered
from ._langchain import Unanswered, is_invalid_resume, is_unwritten
from ._message import failed
from ._prebuilt import ToolCallRequest, ToolInvocationError

_again = itertools.count()


class Leaves:
    """What goes on upwards. The first of several is the first in the order of the calls, and not
    in that of time: a person is asked about it."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Intercepted:
    """A call on its way through an interceptor."""

    def __init__(self, node: Any, call: Any, input_type: Any, runtime: Any) -> None:
        self.node = node
        self.input_type = input_type
        self.config = runtime.config
        tool = node.tools_by_name.get(call["name"])
        self.request = ToolCallRequest(
            tool_call=call, tool=tool, state=runtime.state, runtime=runtime
        )
        #: The run of an execution that the model did not ask for.
        self.run: str | None = None
        self.executions = 0
        #: What executions raised, with what the guard said of it.
        self.told: list[tuple[BaseException, str]] = []

    def execute(self, request: Any) -> Any:
        """Executes the call, as often as the interceptor likes."""
        [reply] = self.node._answered([self._asked(request)])
        return self._came(request, reply)

    async def aexecute(self, request: Any) -> Any:
        """The same, while the event loop goes on."""
        return self._came(request, await self._areply(self._asked(request)))

    def left(self, error: Exception) -> Any:
        """The answer to what left the interceptor."""
        words = self._words(error)
        if words is None:
            with self._raising(error) as asked:
                [reply] = self.node._answered([asked])
            words = reply.text
        return self._failed(words)

    async def aleft(self, error: Exception) -> Any:
        """The same, while the event loop goes on."""
        words = self._words(error)
        if words is None:
            with self._raising(error) as asked:
                words = (await self._areply(asked)).text
        return self._failed(words)

    def _came(self, request: Any, reply: Any) -> Any:
        """What the interceptor gets of an execution. An exception reaches it as LangGraph's own
        node would let it: who tries again must hear of it."""
        if self.run is not None:
            self.node.guard.end_run(self.run)
        error = raised(reply)
        if error is not None:
            self.told.append((error, str(reply.text)))
            is_for_it = isinstance(error, Exception) and not isinstance(error, ToolInvocationError)
            if self.node._is_for_the_guard and is_for_it:
                raise error
        return self.node._output(request.tool_call, reply)

    def _asked(self, request: Any) -> tuple[Any, ...]:
        name, args, id, run, extra = self.node._requested(request, self.input_type, self.config)
        self.executions += 1
        if self.executions > 1:
            # It is not the model that comes back with it.
            run = self.run = f"{run}-again-{next(_again)}"
        return (name, args, id, run, extra)

    @contextmanager
    def _raising(self, error: Exception) -> Iterator[tuple[Any, ...]]:
        """A call of which the guard hears this error."""
        name, *rest = self._asked(self.request)
        rest[-1].raises = error
        if self.request.tool is not None:
            yield (name, *rest)
            return
        # Only the interceptor knows this tool, if anybody does: the guard knows it for now.
        with self.node._known_for_now(name) as known:
            yield (known, *rest)

    async def _areply(self, asked: tuple[Any, ...]) -> Any:
        try:
            [reply] = await answered(self.node.guard.core, [asked])
        except Unanswered as unanswered:
            raise unanswered.error from None
        return reply

    def _words(self, error: Exception) -> Any:
        """What is told of an error, where that is known."""
        handled = self.node._handle_tool_errors
        if isinstance(error, GraphBubbleUp) or not handled or is_invalid_resume(error):
            raise error
        if is_unwritten(error):
            raise error
        if isinstance(handled, str):
            return handled
        is_function = callable(handled) and not isinstance(handled, type)
        if is_function and not self.node._is_for_the_guard:
            return handled(error)
        return next((words for known, words in self.told if known is error), None)

    def _failed(self, words: Any) -> Any:
        call = self.request.tool_call
        return failed(words, call.get("name") or "", call.get("id") or "")


def raised(reply: Any) -> BaseException | None:
    """What a call raised, as LangGraph raises it."""
    error: BaseException | None = reply.exception
    if isinstance(error, Failure) and error._is_translated:
        return error.__cause__ or error
    return error


def raises(_: dict[str, Any], asked: Any) -> Any:
    """Stands for a tool that only an interceptor knows."""
    raise asked.raises or Failure(kind="unknown_tool")


async def araises(arguments: dict[str, Any], asked: Any) -> Any:
    """The same, while the event loop goes on."""
    return raises(arguments, asked)
