"""The guard as a middleware of LangChain's agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pydantic
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import (
    INVALID_TOOL_NAME_ERROR_TEMPLATE,
    TOOL_INVOCATION_ERROR_TEMPLATE,
    ToolInvocationError,
)

from ._answers import heard, message_text, told
from ._failure import Failure
from ._forks import building
from ._guard import Guard, answered
from ._langchain import (
    Unanswered,
    accepts_of,
    is_invalid_resume,
    is_unwritten,
    schema_of,
    waited_for,
)
from ._message import failed
from ._runs import end_if_anonymous, run_of
from ._schema import refusal, usable, usable_name


class GuardMiddleware(AgentMiddleware[Any, Any]):
    """Answers every tool call of an agent: as the outermost middleware it also answers for those
    within."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        options.setdefault("checking", "diagnose")
        passes = (GraphBubbleUp, Unanswered, *options.pop("passes", ()))
        speaks = (ToolException, *options.pop("told", ()))
        effects = options.pop("effects", None)
        self.guard = Guard(passes=passes, told=speaks, **options)
        self._effects = dict(effects or {})
        #: The names of tools, and those by which the guard knows them.
        self._known: dict[str, str] = {}

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Runs a call within the guard."""
        if self._is_new(request):
            came = _Came()
            try:
                came.answer = handler(request)
            except Exception as error:  # noqa: BLE001 - the guard tells what is whose business
                came.error = error
            if came.is_of_a_tool(request):
                self._add(request.tool_call["name"], None)
            handler = came.again
        asked = self._asked(request, handler)
        try:
            reply = self.guard.core.call(asked)
        except Unanswered as unanswered:
            raise unanswered.error from None
        return self._answer(request, reply, asked)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Runs a call within the guard, while the event loop goes on."""
        if self._is_new(request):
            came = _Came()
            try:
                came.answer = await handler(request)
            except Exception as error:  # noqa: BLE001 - the guard tells what is whose business
                came.error = error
            if came.is_of_a_tool(request):
                self._add(request.tool_call["name"], None)
            handler = came.again_later
        asked = self._asked(request, handler)
        try:
            [reply] = await answered(self.guard.core, [asked])
        except Unanswered as unanswered:
            raise unanswered.error from None
        return self._answer(request, reply, asked)

    def _is_new(self, request: Any) -> bool:
        """Whether only a middleware within can know the tool, if anybody does."""
        return request.tool is None and request.tool_call["name"] not in self._known

    def _asked(self, request: Any, handler: Any) -> tuple[Any, ...]:
        call, tool = request.tool_call, request.tool
        name = call["name"]
        # Those of the agent are known by their names, so that a near miss is told.
        for known in getattr(request.runtime, "tools", None) or ():
            self._add(known.name, known)
        if tool is not None:
            self._add(name, tool)
        id = call.get("id") or ""
        known = self._known.get(name, name)
        runtime = request.runtime
        run = run_of(request.state, _MESSAGES, getattr(runtime, "config", None), runtime)
        return (known, call["args"], id, run, (request, handler))

    def _answer(self, request: Any, reply: Any, asked: tuple[Any, ...]) -> Any:
        _, _, id, run, _ = asked
        if reply.is_error:
            end_if_anonymous(self.guard, run)
        if reply.value is not None:
            return told(self.guard.core, reply.value, reply, id, _MESSAGES)
        return failed(reply.text, request.tool_call["name"], id)

    def _add(self, name: str, tool: Any) -> None:
        if name in self._known:
            return
        effect = self._effects.get(name, "once")
        schema = usable(name, lambda: schema_of(tool)) if tool is not None else {"type": "object"}
        with building:
            if name not in self._known:
                called = usable_name(name, self._known.values())
                described = getattr(tool, "description", None) or ""
                accepts = None if tool is None else accepts_of(tool)
                self.guard.add(
                    called, described, schema, _handled, _ahandled, effect=effect, accepts=accepts
                )
                # Only now: who finds it here calls it.
                self._known[name] = called


def _handled(arguments: dict[str, Any], extra: Any) -> Any:
    request, handler = extra
    try:
        return _output(handler(_waited_for(_with(request, arguments))), request)
    except (ToolInvocationError, pydantic.ValidationError) as error:
        raise _refused(error) from error
    except NotImplementedError as error:
        raise Unanswered(error) if is_unwritten(error) else error


async def _ahandled(arguments: dict[str, Any], extra: Any) -> Any:
    request, handler = extra
    try:
        return _output(await handler(_with(request, arguments)), request)
    except (ToolInvocationError, pydantic.ValidationError) as error:
        raise _refused(error) from error
    except NotImplementedError as error:
        raise Unanswered(error) if is_unwritten(error) else error


def _with(request: Any, arguments: dict[str, Any]) -> Any:
    call = request.tool_call
    if arguments is call["args"]:
        return request
    return request.override(tool_call={**call, "args": arguments})


def _waited_for(request: Any) -> Any:
    tool = waited_for(request.tool)
    return request if tool is request.tool else request.override(tool=tool)


class _Came:
    """What came of a tool that was not known before, for the guard to hear."""

    def __init__(self) -> None:
        self.answer: Any = None
        self.error: Exception | None = None

    def is_of_a_tool(self, request: Any) -> bool:
        if not isinstance(self.answer, ToolMessage) or self.answer.status != "error":
            return True
        return not message_text(self.answer).startswith(
            _UNKNOWN.format(requested_tool=request.tool_call["name"])
        )

    def again(self, _: Any) -> Any:
        if self.error is not None:
            raise self.error
        return self.answer

    async def again_later(self, _: Any) -> Any:
        return self.again(_)


#: How LangGraph's node begins to say that there is no such tool, and that it was called wrongly.
_UNKNOWN = INVALID_TOOL_NAME_ERROR_TEMPLATE.partition(", try one of")[0]
_REFUSED = TOOL_INVOCATION_ERROR_TEMPLATE.partition("{")[0]

#: Where the state of an agent has its messages.
_MESSAGES = "messages"


def _output(answer: Any, request: Any) -> Any:
    if isinstance(answer, ToolMessage) and answer.status == "error":
        if message_text(answer).startswith(_REFUSED):
            # It echoes all arguments; the guard knows what is wrong with them.
            words = message_text(answer).rpartition(" with error:\n ")[2]
            raise Failure(words.partition("\n Please fix")[0], kind="invalid_arguments")
    return heard(answer, request.tool_call.get("id") or "", _MESSAGES)


def _refused(error: Exception) -> Exception:
    if is_invalid_resume(error):
        return Unanswered(error)
    found = error.source if isinstance(error, ToolInvocationError) else error
    return refusal(found) if isinstance(found, pydantic.ValidationError) else Failure(str(error))
