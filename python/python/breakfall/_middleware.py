"""The guard as a middleware of LangChain's agents."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

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
from langgraph.types import Command

from ._accepts import Accepts, Running, running
from ._answers import heard, message_text, told
from ._failure import Failure
from ._forks import building
from ._guard import Guard, answered
from ._langchain import Unanswered, is_invalid_resume, is_unwritten, waited_for
from ._logs import is_known
from ._message import failed
from ._prebuilt import ToolCallRequest
from ._runs import end_if_anonymous, run_of
from ._schema import refusal, usable_name


class GuardMiddleware(AgentMiddleware[Any, Any]):
    """Answers every tool call of an agent: as the outermost middleware it also answers for those
    within."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        options.setdefault("checking", "diagnose")
        passes = (GraphBubbleUp, Unanswered, _OfAnother, *options.pop("passes", ()))
        speaks = (ToolException, *options.pop("told", ()))
        effects = options.pop("effects", None)
        self._options = {**options, "passes": passes, "told": speaks}
        self.guard = Guard(**self._options)
        self._effects = dict(effects or {})
        #: The names of tools, and those by which the guard knows them.
        self._known: dict[str, str] = {}
        #: What is asked of arguments that a schema refuses.
        self._accepts: dict[str, Accepts] = {}
        #: The names of tools that an agent has by itself: one of several, perhaps.
        self._of_agents: set[str] = set()
        #: Knows the tools of one of several agents, and nothing else.
        self._others: tuple[frozenset[str], Guard] | None = None

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
            try:
                reply = self.guard.core.call(asked)
            except _OfAnother as other:
                asked = self._asked(request, other.came.again, other.tool)
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
            try:
                [reply] = await answered(self.guard.core, [asked])
            except _OfAnother as other:
                asked = self._asked(request, other.came.again_later, other.tool)
                [reply] = await answered(self.guard.core, [asked])
        except Unanswered as unanswered:
            raise unanswered.error from None
        return self._answer(request, reply, asked)

    def _is_new(self, request: Any) -> bool:
        """Whether only a middleware within can know the tool, if anybody does. Another agent may
        have one of that name."""
        name = request.tool_call["name"]
        return request.tool is None and (name not in self._known or name in self._of_agents)

    def _asked(self, request: Any, handler: Any, tool: Any = None) -> tuple[Any, ...]:
        call, name = request.tool_call, request.tool_call["name"]
        tool = request.tool if tool is None else tool
        # Those of the agent are known by their names, so that a near miss is told.
        for known in _tools(request):
            self._add(known.name, known)
            self._of_agents.add(known.name)
        if tool is not None:
            self._add(name, tool)
        id = call.get("id") or ""
        called = self._known.get(name, name)
        runtime = request.runtime
        run = run_of(request.state, _MESSAGES, getattr(runtime, "config", None), runtime)
        now = Running(self._accepts.get(name), tool)
        running.set(now)
        return (called, call["args"], id, run, (request, handler, now))

    def _answer(self, request: Any, reply: Any, asked: tuple[Any, ...]) -> Any:
        _, _, id, run, _ = asked
        if reply.is_error:
            end_if_anonymous(self.guard, run)
        if reply.value is not None:
            return told(self.guard.core, reply.value, reply, id, _MESSAGES)
        return failed(self._words(request, reply), request.tool_call["name"], id)

    def _words(self, request: Any, reply: Any) -> str:
        """What the model is told of a failure. It hears of its agent's tools, and not of those that
        others have who share the guard."""
        if reply.kind != "unknown_tool":
            return str(reply.text)
        name, own = request.tool_call["name"], {tool.name for tool in _tools(request)}
        if not own or (own.issuperset(self._of_agents) and name not in self._known):
            return str(reply.text)
        # What only middlewares know may be anybody's.
        names = own | (self._known.keys() - self._of_agents) - {name}
        return self._unknown(name, frozenset(names))

    def _unknown(self, name: str, names: frozenset[str]) -> str:
        """How the guard says that no tool of these has a name. It has recorded it already."""
        if self._others is not None and self._others[0] == names:
            guard = self._others[1]
        else:
            guard = Guard(**{**self._options, "store": False})
            for known in names:
                guard.add(self._known[known], "", {"type": "object"}, _handled)
            self._others = (names, guard)
        run = run_of(None, _MESSAGES, None, None)
        token = is_known.set(True)
        try:
            return guard.call(self._known.get(name, name), run=run).text
        finally:
            is_known.reset(token)
            end_if_anonymous(guard, run)

    def _add(self, name: str, tool: Any) -> None:
        if name in self._known:
            return
        effect = self._effects.get(name, "once")
        accepts = None if tool is None else Accepts(name, tool)
        schema = {"type": "object"} if accepts is None else accepts.schema
        with building:
            if name not in self._known:
                called = usable_name(name, self._known.values())
                described = getattr(tool, "description", None) or ""
                self.guard.add(
                    called, described, schema, _handled, _ahandled, effect=effect, accepts=accepts
                )
                # Only now: who finds it here calls it.
                self._known[name] = called
                if accepts is not None:
                    self._accepts[name] = accepts


class _OfAnother(Exception):
    """What came of a call whose tool a middleware within replaced by another: its arguments were
    held to the wrong schema."""

    def __init__(self, came: _Came, tool: Any) -> None:
        super().__init__()
        self.came = came
        self.tool = tool


def _tools(request: Any) -> Any:
    """The tools of the agent that calls."""
    return getattr(request.runtime, "tools", None) or ()


def _handled(arguments: dict[str, Any], extra: Any) -> Any:
    request, handler, now = extra
    try:
        answer = handler(_waited_for(_with(request, arguments, now)))
        _tell(now, answer=answer)
        return _output(answer, request)
    except _OfAnother:
        raise
    except Exception as error:
        _fail(now, error)


async def _ahandled(arguments: dict[str, Any], extra: Any) -> Any:
    request, handler, now = extra
    try:
        answer = await handler(_with(request, arguments, now))
        _tell(now, answer=answer)
        return _output(answer, request)
    except _OfAnother:
        raise
    except Exception as error:
        _fail(now, error)


def _fail(now: Running, error: Exception) -> NoReturn:
    """Raises what the guard is to hear of an error."""
    _tell(now, error=error)
    raised = _raised(error)
    if raised is error:
        raise error
    raise raised from error


def _raised(error: Exception) -> Exception:
    if isinstance(error, (ToolInvocationError, pydantic.ValidationError)):
        return _refused(error)
    return Unanswered(error) if is_unwritten(error) else error


def _tell(now: Running, answer: Any = None, error: Exception | None = None) -> None:
    """Sees to it that a failure of another tool is not explained by the schema of this one."""
    if now.other is None or isinstance(error, GraphBubbleUp):
        return
    if error is not None or isinstance(answer, ToolMessage) and answer.status == "error":
        raise _OfAnother(_Came(answer, error), now.other)


def _with(request: Any, arguments: dict[str, Any], now: Running) -> Any:
    call = request.tool_call
    if now.is_refused:
        return _Checked.of(request, arguments, now)
    if arguments is call["args"]:
        return request
    return request.override(tool_call={**call, "args": arguments})


class _Checked(ToolCallRequest):
    """A request whose arguments were held to the schema of its tool. Where a middleware within
    replaces the tool, the other one gets them as the model wrote them."""

    @classmethod
    def of(cls, request: Any, arguments: dict[str, Any], now: Running) -> _Checked:
        given = {field.name: getattr(request, field.name) for field in dataclasses.fields(request)}
        made = cls(**{**given, "tool_call": {**request.tool_call, "args": arguments}})
        vars(made)["_asked"] = (request.tool_call["args"], arguments, now)
        return made

    def override(self, **overrides: Any) -> Any:
        made = super().override(**overrides)
        came, mended, now = vars(self)["_asked"]
        if made.tool is not self.tool:
            now.other = None if now.is_for(made.tool) else made.tool
        call = made.tool_call
        if now.other is not None and call.get("args") == mended:
            vars(made)["tool_call"] = {**call, "args": came}
        vars(made)["_asked"] = (came, mended, now)
        return made


def _waited_for(request: Any) -> Any:
    tool = waited_for(request.tool)
    return request if tool is request.tool else request.override(tool=tool)


class _Came:
    """What came of a tool that was not known before, for the guard to hear."""

    def __init__(self, answer: Any = None, error: Exception | None = None) -> None:
        self.answer = answer
        self.error = error

    def is_of_a_tool(self, request: Any) -> bool:
        return not _is_of_no_tool(self.answer, request)

    def again(self, _: Any) -> Any:
        if self.error is not None:
            raise self.error
        return self.answer

    async def again_later(self, _: Any) -> Any:
        return self.again(_)


def _is_of_no_tool(answer: Any, request: Any) -> bool:
    """Whether the agent's node says that there is no such tool."""
    if not isinstance(answer, ToolMessage) or answer.status != "error":
        return False
    said = _UNKNOWN.format(requested_tool=request.tool_call["name"])
    return message_text(answer).startswith(said)


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
        if request.tool is None and _is_of_no_tool(answer, request):
            # The guard knows it as that of another agent.
            raise Failure(kind="unknown_tool")
    if not isinstance(answer, (ToolMessage, Command, list)):
        # A middleware within gave it. What is no message answers no call.
        failure = Failure(kind="invalid_output")
        raise failure from TypeError(f"a middleware gave {type(answer).__name__}, and no message")
    return heard(answer, request.tool_call.get("id") or "", _MESSAGES)


def _refused(error: Exception) -> Exception:
    if is_invalid_resume(error):
        return Unanswered(error)
    found = error.source if isinstance(error, ToolInvocationError) else error
    return refusal(found) if isinstance(found, pydantic.ValidationError) else Failure(str(error))
