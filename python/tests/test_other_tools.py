"""Another tool than the guard knows by a name is held to no schema but its own."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, tool
from nodes import call, node, run, ways

from breakfall.langgraph import wrap_tool_call


def reader(name: str = "read") -> Any:
    @tool(name)
    def read(what: dict) -> str:
        """Reads."""
        return f"object {what}"

    return read


def text_reader(name: str = "read") -> Any:
    @tool(name)
    def read(what: str) -> str:
        """Reads a text."""
        return f"text {what}"

    return read


def any_reader() -> Any:
    @tool("read")
    def read(what: Any) -> str:
        """Reads anything."""
        return f"{type(what).__name__} {what}"

    return read


def page_reader() -> Any:
    @tool("read")
    def read(page: int) -> str:
        """Reads a page."""
        raise LookupError("page 7 is not there")

    return read


def by_schema(kind: str, name: str = "read") -> StructuredTool:
    schema = {"type": "object", "properties": {"what": {"type": kind}}, "required": ["what"]}
    return StructuredTool.from_function(
        lambda **given: f"{type(given.get('what')).__name__} {given.get('what')}",
        name=name,
        description="Reads.",
        args_schema=schema,
    )


READ = call("read", {"what": '{"a": 1}'})


def bringing(bring: Any) -> dict[str, Any]:
    async def acall(request, execute):
        return await execute(request.override(tool=bring()))

    return {
        "wrap_tool_call": lambda request, execute: execute(request.override(tool=bring())),
        "awrap_tool_call": acall,
    }


# An interceptor of the node.


@ways
@pytest.mark.parametrize("checking", ["diagnose", "strict"])
@pytest.mark.parametrize(
    ("brought", "told"),
    [
        (text_reader(), 'text {"a": 1}'),
        (any_reader(), 'str {"a": 1}'),
        (by_schema("string"), 'str {"a": 1}'),
    ],
)
def test_a_tool_that_an_interceptor_brings_gets_what_the_model_wrote(way, checking, brought, told):
    known = node(reader(), checking=checking, **bringing(lambda: brought))
    assert run(known, READ, way=way)[0].content == told


@ways
def test_another_tool_of_the_node_gets_what_the_model_wrote(way):
    text = text_reader("text")
    known = node(reader(), text, **bringing(lambda: text))
    assert run(known, READ, way=way)[0].content == 'text {"a": 1}'


@ways
def test_a_tool_that_an_interceptor_brings_says_what_it_lacks(way):
    known = node(reader(), **bringing(page_reader))
    [message] = run(known, call("read", {"what": "x"}), way=way)
    assert message.status == "error"
    assert "`page`" in message.content and "`what`" not in message.content


@ways
def test_a_tool_that_is_made_anew_for_each_call_is_mended_as_before(way):
    known = node(by_schema("integer"), **bringing(lambda: by_schema("integer")))
    assert run(known, call("read", {"what": "5"}), way=way)[0].content == "int 5"


@ways
def test_tools_that_come_under_one_name_are_each_held_to_their_own(way):
    brought: list[Any] = [reader(), text_reader()]
    known = node(text_reader("other"), **bringing(lambda: brought.pop(0)))
    told = [run(known, READ, way=way)[0].content for _ in range(2)]
    assert told == ["object {'a': 1}", 'text {"a": 1}']


@ways
def test_a_tool_that_an_interceptor_brought_once_is_not_run_without_it(way):
    may = [True, False]

    def brings(request: Any) -> Any:
        return request.override(tool=text_reader()) if may.pop(0) else request

    async def acall(request, execute):
        return await execute(brings(request))

    known = node(
        reader("other"),
        wrap_tool_call=lambda request, execute: execute(brings(request)),
        awrap_tool_call=acall,
    )
    first, second = (run(known, READ, way=way)[0] for _ in range(2))
    assert (first.content, second.status) == ('text {"a": 1}', "error")
    assert second.content.startswith("`read` is not a tool.")


# The middleware of an agent.


class Model(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


class Brings(AgentMiddleware):
    """Runs another tool than the agent has."""

    def __init__(self, tool: Any, **args: Any) -> None:
        super().__init__()
        self.tool = tool
        self.args = args

    def changed(self, request: Any) -> Any:
        made = request.override(tool=self.tool)
        if self.args:
            given = {**made.tool_call["args"], **self.args}
            made = made.override(tool_call={**made.tool_call, "args": given})
        return made

    def wrap_tool_call(self, request, handler):
        return handler(self.changed(request))

    async def awrap_tool_call(self, request, handler):
        return await handler(self.changed(request))


def answers(tools: Any, middleware: Any, *calls: Any, way: str = "sync") -> list[ToolMessage]:
    messages = [AIMessage("", tool_calls=list(calls)), AIMessage("went on")]
    made = create_agent(Model(messages=iter(messages)), tools, middleware=middleware)
    asked = {"messages": [HumanMessage("go")]}
    done = made.invoke(asked) if way == "sync" else asyncio.run(made.ainvoke(asked))
    return [message for message in done["messages"] if isinstance(message, ToolMessage)]


def in_order(order: str, guarded: Any, brings: Any) -> list[Any]:
    return [guarded, brings] if order == "guard first" else [brings, guarded]


orders = pytest.mark.parametrize("order", ["guard first", "guard last"])


@ways
@orders
@pytest.mark.parametrize(
    ("has", "brought", "told"),
    [
        (reader(), text_reader(), 'text {"a": 1}'),
        (reader(), any_reader(), 'str {"a": 1}'),
        (by_schema("object"), text_reader(), 'text {"a": 1}'),
        (by_schema("object"), by_schema("string"), 'str {"a": 1}'),
    ],
)
def test_a_tool_that_a_middleware_brings_gets_what_the_model_wrote(way, order, has, brought, told):
    middleware = in_order(order, wrap_tool_call(store=False), Brings(brought))
    [message] = answers([has], middleware, READ, way=way)
    assert (message.content, message.status) == (told, "success")


@ways
@orders
def test_a_tool_that_a_middleware_brings_says_what_it_lacks(way, order):
    guarded = wrap_tool_call(store=False)
    middleware = in_order(order, guarded, Brings(page_reader()))
    [message] = answers([reader()], middleware, call("read", {"what": "x"}), way=way)
    assert message.status == "error"
    assert "page" in message.content and "what" not in message.content
    assert guarded.guard.records()[-1]["failure"]["kind"] == "invalid_arguments"


@ways
@orders
def test_a_tool_that_a_middleware_brings_fails_by_itself(way, order):
    guarded = wrap_tool_call(store=False)
    middleware = in_order(order, guarded, Brings(page_reader(), page=7))
    [message] = answers([reader()], middleware, call("read", {"what": "x"}), way=way)
    assert message.status == "error"
    assert "argument" not in message.content
    assert guarded.guard.summary()["read:LookupError"] == 1


@ways
def test_a_tool_that_a_middleware_leaves_in_its_place_is_mended_as_before(way):
    class Copies(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            return handler(request.override(tool=request.tool.model_copy()))

        async def awrap_tool_call(self, request, handler):
            return await handler(request.override(tool=request.tool.model_copy()))

    middleware = [wrap_tool_call(store=False), Copies()]
    [message] = answers([by_schema("integer")], middleware, call("read", {"what": "5"}), way=way)
    assert message.content == "int 5"


# One middleware for several agents.


@ways
def test_agents_that_share_a_guard_have_tools_of_one_name(way):
    shared = [wrap_tool_call(store=False)]
    told = [
        answers([has], shared, READ, way=way)[0].content
        for has in (by_schema("object"), text_reader(), by_schema("string"), reader())
    ]
    assert told == ["dict {'a': 1}", 'text {"a": 1}', 'str {"a": 1}', told[3]]


@ways
def test_agents_that_share_a_guard_hear_of_their_own_arguments(way):
    shared = [wrap_tool_call(store=False)]
    answers([reader()], shared, READ, way=way)
    [message] = answers([page_reader()], shared, call("read", {"what": "x"}), way=way)
    assert "page" in message.content and "what" not in message.content


@ways
def test_an_agent_whose_tools_are_made_for_each_request_is_mended_as_before(way):
    shared = [wrap_tool_call(store=False)]
    asked = call("read", {"what": "5"})
    told = [answers([by_schema("integer")], shared, asked, way=way)[0].content for _ in range(2)]
    assert told == ["int 5", "int 5"]


@ways
def test_agents_that_share_a_guard_hear_of_their_own_tools(way, caplog):
    guarded = wrap_tool_call(store=False)
    answers([reader("first")], [guarded], call("first", {"what": {}}), way=way)
    with caplog.at_level(logging.INFO, "breakfall"):
        for name in ("firs", "first", "firs", "firs", "firs", "firs", "firs"):
            [message] = answers([reader("second")], [guarded], call(name), way=way)
            assert message.content.startswith(f"`{name}` is not a tool.\nCall one of: `second`.")
    assert guarded.guard.summary() == {"firs:UnknownTool": 6, "first:UnknownTool": 1}
    logged = [record.levelname for record in caplog.records if record.name == "breakfall"]
    assert logged == ["INFO", "WARNING"] * 7
