"""A tool node for LangGraph that a failing tool does not take down.

>>> from breakfall.langgraph import ErrorHandlingToolNode
>>> node = ErrorHandlingToolNode([search, read_file])            # doctest: +SKIP
>>> graph.add_node("tools", node)                                # doctest: +SKIP

It is a :class:`langgraph.prebuilt.ToolNode` and takes what that takes. What differs is written in
docs/python.md: every exception is answered unless ``handle_tool_errors`` says otherwise, the words
are the guard's, a state without messages or calls gives no messages, and calls that LangChain could
not parse are answered too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from typing import Any, Literal

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import get_executor_for_config
from langchain_core.tools import BaseTool, ToolException
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from ._accepts import Accepts, Running, running
from ._answers import told
from ._failure import Failure
from ._forks import building
from ._guard import Guard, answered
from ._intercepted import Intercepted, Leaves, araises, raised, raises
from ._langchain import Asked, Tool, Unanswered
from ._listening import is_heard
from ._message import failed
from ._prebuilt import ToolNode, handled_types
from ._runs import end_if_anonymous, run_of
from ._schema import usable_name
from ._turns import Turn, made_together, turns

__all__ = ["ErrorHandlingToolNode", "tools_condition", "wrap_tool_call"]

_InputType = Literal["list", "dict", "tool_calls"]

#: What marks a single call that comes with its state.
_WITH_CONTEXT = "tool_call_with_context"


def _by_the_guard(error: Exception) -> str:
    """Stands for what is said where nothing else is: the guard's words."""
    raise error


class ErrorHandlingToolNode(ToolNode):
    """Runs the tool calls of the last AI message; each is answered under its id.

    :param tools: as for ``ToolNode``.
    :param handle_tool_errors: as for ``ToolNode``; without it every exception is answered in the
        guard's words. ``True`` is the same, a text or a function gives other words, a type or
        several let go what they do not name, ``False`` lets everything go. Interrupts always go.
    :param effects: ``{name: "read_only" | "idempotent" | "once"}``: may a call be repeated?
    :param guard: what :class:`breakfall.Guard` takes: ``preset``, ``timeout``, ``store``, ….
    """

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., Any]],
        *,
        name: str = "tools",
        tags: list[str] | None = None,
        handle_tool_errors: Any = _by_the_guard,
        messages_key: str = "messages",
        wrap_tool_call: Any = None,
        awrap_tool_call: Any = None,
        effects: Mapping[str, str] | None = None,
        **guard: Any,
    ) -> None:
        super().__init__(
            tools,
            name=name,
            tags=tags,
            handle_tool_errors=handle_tool_errors,
            messages_key=messages_key,
            wrap_tool_call=wrap_tool_call,
            awrap_tool_call=awrap_tool_call,
        )
        guard.setdefault("checking", "diagnose")
        passes = (GraphBubbleUp, Unanswered, *guard.pop("passes", ()))
        speaks = (ToolException, *guard.pop("told", ()))
        self.guard = Guard(passes=passes, told=speaks, **guard)
        self._is_for_the_guard = handle_tool_errors is _by_the_guard
        self._timeout: float | None = guard.get("timeout", 30.0)
        self._effects = dict(effects or {})
        self._known: dict[str, Tool] = {}
        #: Names that the guard cannot have, and those it has instead.
        self._renamed: dict[str, str] = {}
        self._for_now: set[str] = set()
        for tool in self._tools_by_name.values():
            self._add(tool)

    @property
    def tools(self) -> dict[str, BaseTool]:
        """The tools by their names."""
        return self._tools_by_name

    @property
    def tool_error_registry(self) -> dict[str, list[dict[str, Any]]]:
        """The newest errors of each tool; the same as :meth:`get_error_summary`."""
        return self.get_error_summary()

    def get_error_summary(self) -> dict[str, list[dict[str, Any]]]:
        """The newest errors: ``{tool: [{error_type, error_message, timestamp}]}``."""
        summary: dict[str, list[dict[str, Any]]] = {}
        for record in self.guard.records():
            failure = record["failure"]
            if failure is not None:
                at = datetime.fromtimestamp(record["started"], timezone.utc)
                entry = {
                    "error_type": record["error_type"],
                    "error_message": failure["message"] or record["told"],
                    "timestamp": at.isoformat(),
                }
                summary.setdefault(record["tool"], []).append(entry)
        return summary

    def __call__(self, state: Any) -> Any:
        """Runs outside of a graph, as a plain function of the state."""
        return self._func(state, ensure_config(), Runtime())

    # What LangGraph calls.

    def _func(self, input: Any, config: RunnableConfig, runtime: Any) -> Any:
        if self._wrap_tool_call is not None:
            return self._wrapped(input, config, runtime)
        calls, input_type = self._parse_input(input)
        asked, run = self._asked(calls, input, input_type, config, runtime)
        replies = self._answered(asked, config.get("max_concurrency"))
        return self._outputs(calls, replies, input_type, run)

    async def _afunc(self, input: Any, config: RunnableConfig, runtime: Any) -> Any:
        if self._awrap_tool_call is not None or self._wrap_tool_call is not None:
            return await self._awrapped(input, config, runtime)
        calls, input_type = self._parse_input(input)
        asked, run = self._asked(calls, input, input_type, config, runtime)
        try:
            replies = await answered(self.guard.core, asked)
        except Unanswered as unanswered:
            raise unanswered.error from None
        return self._outputs(calls, replies, input_type, run)

    def _answered(self, asked: list[tuple[Any, ...]], most: int | None = None) -> list[Any]:
        core = self.guard.core
        try:
            if most is not None and most < len(asked):
                # As LangGraph does it: each waits for a thread before its time runs.
                with get_executor_for_config({"max_concurrency": most}) as threads:
                    return list(threads.map(core.call, asked))
            return [core.call(asked[0])] if len(asked) == 1 else core.batch(asked)
        except Unanswered as unanswered:
            raise unanswered.error from None

    def _parse_input(self, input: Any) -> tuple[list[Any], _InputType]:
        """The calls, with those that LangChain could not parse; none where there is no message."""
        messages: Sequence[Any]
        input_type: _InputType
        if isinstance(input, list):
            if input and isinstance(input[-1], dict) and input[-1].get("type") == "tool_call":
                return input, "tool_calls"
            messages, input_type = input, "list"
        elif isinstance(input, dict):
            if input.get("__type") == _WITH_CONTEXT:
                return [input["tool_call"]], "tool_calls"
            messages, input_type = input.get(self._messages_key) or (), "dict"
        else:
            messages, input_type = getattr(input, self._messages_key, None) or (), "dict"
        for message in reversed(messages):
            if isinstance(message, AIMessage):
                return [*message.tool_calls, *message.invalid_tool_calls], input_type
        return [], input_type

    def _asked(
        self, calls: list[Any], input: Any, input_type: _InputType, config: Any, runtime: Any
    ) -> tuple[list[tuple[Any, ...]], str]:
        heard = is_heard(config)
        run = self._run_of(input, config, runtime)
        tools = [self._now(call.get("name") or "") for call in calls]
        asked = []
        for call, tool, turn in zip(calls, tools, self._turns(calls, config), strict=True):
            name = call.get("name") or ""
            # Each has its own, with everything that LangChain puts into it.
            own = ensure_config(config)
            if turn is not None:
                own = turn.config(own)
            extra = Asked(self, call, tool, input, input_type, own, runtime)
            extra.heard = heard
            extra.turn = turn
            name = self._renamed.get(name, name)
            asked.append((name, call.get("args"), call.get("id") or "", run, extra))
        return asked, run

    def _turns(self, calls: list[Any], config: Any) -> list[Turn | None]:
        if len(calls) < 2:
            return [None] * len(calls)
        named = [call.get("name") or "" for call in calls]
        known = [name in self._known or name in self._tools_by_name for name in named]
        return turns(config, known, self._timeout)

    def _run_of(self, input: Any, config: Any, runtime: Any) -> str:
        is_with_context = isinstance(input, dict) and input.get("__type") == _WITH_CONTEXT
        state = input["state"] if is_with_context else input
        return run_of(state, self._messages_key, config, runtime)

    def _outputs(
        self, calls: list[Any], replies: list[Any], input_type: _InputType, run: str
    ) -> Any:
        for reply in replies:
            if reply.is_error:
                end_if_anonymous(self.guard, run)
                break
        outputs = []
        are_messages = input_type == "dict"
        for call, reply in zip(calls, replies, strict=True):
            output = self._output(call, reply)
            are_messages = are_messages and type(output) is ToolMessage
            outputs.append(output)
        if are_messages:
            return {self._messages_key: outputs}
        return self._combine_tool_outputs(outputs, input_type)

    def _output(self, call: Any, reply: Any) -> Any:
        value = reply.value
        if value is not None:
            return told(self.guard.core, value, reply, call.get("id") or "", self._messages_key)
        return failed(self._words(reply), call.get("name") or "", call.get("id") or "")

    def _words(self, reply: Any) -> Any:
        """What the model is told of a failure, as ``handle_tool_errors`` decides."""
        handled: Any = self._handle_tool_errors
        if self._is_for_the_guard or handled is True or (error := raised(reply)) is None:
            return str(reply.text)
        if not handled:
            raise error
        if isinstance(handled, str):
            return handled
        if isinstance(handled, (type, tuple)):
            if isinstance(error, handled):
                return str(reply.text)
            raise error
        if not isinstance(error, handled_types(handled)):
            raise error
        return handled(error)

    # Calls that go through an interceptor: LangGraph leads, and each execution is guarded.

    def _wrapped(self, input: Any, config: RunnableConfig, runtime: Any) -> Any:
        token = made_together.set(self._turns_by_id(input, config))
        try:
            return super()._func(input, config, runtime)
        finally:
            made_together.reset(token)

    async def _awrapped(self, input: Any, config: RunnableConfig, runtime: Any) -> Any:
        token = made_together.set(self._turns_by_id(input, config))
        try:
            return await super()._afunc(input, config, runtime)
        finally:
            made_together.reset(token)

    def _turns_by_id(self, input: Any, config: Any) -> dict[str, Turn]:
        calls, _ = self._parse_input(input)
        made = zip(calls, self._turns(calls, config), strict=True)
        return {call.get("id") or "": turn for call, turn in made if turn is not None}

    def _run_one(self, call: Any, input_type: Any, tool_runtime: Any) -> Any:
        intercepted = Intercepted(self, call, input_type, tool_runtime)
        try:
            return self._wrap_tool_call(intercepted.request, intercepted.execute)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - the guard tells what is whose business
            return intercepted.left(error)

    async def _arun_one(self, call: Any, input_type: Any, tool_runtime: Any) -> Any:
        intercepted = Intercepted(self, call, input_type, tool_runtime)
        try:
            return await self._aintercepted(intercepted)
        except Exception as error:  # noqa: BLE001 - it goes on upwards when all are done
            return Leaves(error)

    async def _aintercepted(self, intercepted: Intercepted) -> Any:
        try:
            if self._awrap_tool_call is not None:
                return await self._awrap_tool_call(intercepted.request, intercepted.aexecute)
            return self._wrap_tool_call(intercepted.request, intercepted.execute)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - the guard tells what is whose business
            return await intercepted.aleft(error)

    def _combine_tool_outputs(self, outputs: list[Any], input_type: Any) -> Any:
        for output in outputs:
            if isinstance(output, Leaves):
                raise output.error
        return super()._combine_tool_outputs(outputs, input_type)

    def _requested(self, request: Any, input_type: _InputType, config: Any) -> tuple[Any, ...]:
        call, tool = request.tool_call, request.tool
        known = self._named(call["name"], tool)
        used = known
        if tool is not None and known is not None and known.tool is not tool:
            used = Tool(self, tool)
        # Another tool than the name's own is checked by itself.
        accepts = None if known is None else known.accepts
        running.set(None if used is known else Running(accepts, tool))
        turn = made_together.get({}).get(call.get("id") or "")
        if turn is not None:
            config = turn.config(config)
        extra = Asked(self, call, used, request.state, input_type, config, None)
        if tool is None and known is not None:
            # An interceptor brought a tool of that name before, and does not now.
            extra.raises = Failure(kind="unknown_tool")
        extra.turn = turn
        extra.made = request.runtime
        extra.heard = is_heard(config)
        run = self._run_of(request.state, config, request.runtime)
        name = self._renamed.get(call["name"], call["name"])
        return (name, call["args"], call.get("id") or "", run, extra)

    @contextmanager
    def _known_for_now(self, name: str) -> Iterator[str]:
        """A name by which the guard hears of what is no tool of ours."""
        with building:
            known = usable_name(name, {*self._known, *self._renamed.values(), *self._for_now})
            self._for_now.add(known)
            self.guard.add(known, "", {"type": "object"}, raises, araises)
        try:
            yield known
        finally:
            self.guard.remove(known)
            self._for_now.discard(known)

    def _named(self, name: str, tool: BaseTool | None) -> Tool | None:
        """What the guard knows by a name when an interceptor has done its part."""
        if name in self._tools_by_name:
            return self._now(name)
        known = self._known.get(name)
        if tool is None or known is not None:
            return known
        # An interceptor brought a tool of its own.
        with building:
            return self._known.get(name) or self._add(tool, name)

    def _now(self, name: str) -> Tool | None:
        """The node's tool of a name, as it is now: tools may be put in its dictionary or taken out,
        and what is known of one may have changed."""
        known = self._known.get(name)
        tool = self._tools_by_name.get(name)
        if known is None:
            return None if tool is None else self._look(name)
        return known if known.tool is tool and known.is_as_seen() else self._look(name)

    def _look(self, name: str) -> Tool | None:
        with building:
            known, tool = self._known.get(name), self._tools_by_name.get(name)
            if known is not None:
                seen = None if tool is None else Tool(self, tool)
                if seen is not None and seen.follows(known):
                    self._known[name] = seen
                    return seen
                del self._known[name]
                with suppress(ValueError):  # it may have been taken out of the guard, too
                    self.guard.remove(self._renamed.pop(name, name))
            return None if tool is None else self._add(tool, name)

    def _add(self, tool: BaseTool, name: str | None = None) -> Tool:
        known = Tool(self, tool)
        name = name or tool.name
        called = usable_name(name, {*self._known, *self._renamed.values()})
        known.accepts = Accepts(name, tool)
        self.guard.add(
            called,
            tool.description or "",
            known.accepts.schema,
            known.run if known.has_function else None,
            known.arun if known.has_coroutine else None,
            effect=self._effects.get(name, "once"),
            accepts=known.accepts,
        )
        if called != name:
            self._renamed[name] = called
        # The guard knows it by now, so that nobody is told that it is not a tool.
        self._known[name] = known
        return known


def wrap_tool_call(**options: Any) -> Any:
    """A middleware for LangChain's ``create_agent``: a failing tool does not take the agent down.

    >>> agent = create_agent(model, tools, middleware=[wrap_tool_call()])     # doctest: +SKIP

    It takes what :class:`breakfall.Guard` takes.
    """
    from ._middleware import GuardMiddleware

    return GuardMiddleware(**options)


def tools_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """Where a graph goes after its model: to ``tools`` if there are calls to answer, also where
    LangChain could not parse them. LangGraph's own ends the run then, without a word."""
    messages = state
    if isinstance(state, dict):
        messages = state.get(messages_key)
    elif not isinstance(state, (list, tuple)):
        messages = getattr(state, messages_key, None)
    last = messages[-1] if messages else None
    if isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls):
        return "tools"
    return "__end__"
