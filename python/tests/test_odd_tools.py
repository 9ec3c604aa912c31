"""A tool with a name or a schema that the guard cannot use is called all the same, and takes no
other with it."""

from __future__ import annotations

from typing import Annotated, Any

import pydantic
import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, Tool
from nodes import CONFIG, add, asks, call, node, run, ways

from breakfall import Guard
from breakfall.compat import brynhild, llmproc
from breakfall.langgraph import wrap_tool_call

LETTERS = {"type": "string", "pattern": r"^\p{Letters}+$"}

SHAPES: list[Any] = [
    LETTERS,
    {"type": "string", "pattern": "(?P<q>x).*(?P=q)"},
    {"type": "strin"},
    {"type": "integer", "minimum": "3"},
    {"$ref": "#/nowhere"},
    {"$ref": "https://example.com/shape.json"},
    {"default": object()},
]

NAMES = ["get weather", "a\tb", "a`b", "a" * 200, "\u200bhidden", "a\nb"]


def odd(name: str = "odd", shape: Any = None) -> StructuredTool:
    schema = {"type": "object", "properties": {"a": shape or {"type": "string"}}}
    return StructuredTool.from_function(
        lambda **given: f"given {given['a']}", name=name, description="Odd.", args_schema=schema
    )


@ways
@pytest.mark.parametrize("shape", SHAPES)
def test_a_schema_that_the_guard_cannot_use_is_not_used(way, shape):
    calls = [call("add", {"a": 1, "b": 2}, "1"), call("odd", {"a": "x"}, "2")]
    messages = run(node(add, odd(shape=shape)), *calls, way=way)
    assert [message.content for message in messages] == ["3", "given x"]


@ways
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_the_guard_cannot_have_is_called(way, name):
    calls = [call("add", {"a": 1, "b": 2}, "1"), call(name, {"a": "x"}, "2")]
    messages = run(node(add, odd(name)), *calls, way=way)
    assert [(m.content, m.name) for m in messages] == [("3", "add"), ("given x", name)]


def test_names_that_become_the_same_are_told_apart():
    def named(name: str) -> StructuredTool:
        return StructuredTool.from_function(lambda: name, name=name, description="Tells its name.")

    names = ["a b", "a_b", "a\tb", "a_b_"]
    messages = run(node(*map(named, names)), *(call(name, id=name) for name in names))
    assert [message.content for message in messages] == names


def test_a_name_that_the_guard_can_have_stays():
    names = ["a.b", "mcp__x-y", "a" * 128, "\u5de5\u5177"]
    ours = node(*(odd(name) for name in names))
    assert sorted(tool["name"] for tool in ours.guard.tools()) == sorted(names)


def test_a_tool_whose_schema_cannot_be_made_takes_no_other_with_it():
    class Broken(BaseTool):
        name: str = "broken"
        description: str = "Broken."

        @property
        def tool_call_schema(self) -> Any:
            raise RuntimeError("no schema")

        def _run(self) -> str:
            return "ran"

    messages = run(node(add, Broken()), call("add", {"a": 1, "b": 2}), call("broken", id="2"))
    assert [message.content for message in messages] == ["3", "ran"]


class Model(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


@pytest.mark.parametrize("other", [odd(shape=LETTERS), odd("get weather")])
def test_an_agent_calls_it_too(other):
    calls = [call("add", {"a": 1, "b": 2}, "1"), call(other.name, {"a": "x"}, "2")]
    model = Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("done")]))
    agent = create_agent(model, [add, other], middleware=[wrap_tool_call(store=False)])
    said = agent.invoke({"messages": [HumanMessage("go")]})["messages"]
    assert [message.content for message in said[2:]] == ["3", "given x", "done"]


def test_a_hint_that_the_guard_cannot_check_is_checked_by_the_function():
    guard = Guard(store=False)

    @guard.tool
    def spell(word: Annotated[str, pydantic.Field(pattern=r"^\p{Letter}+$")]) -> str:
        """Spells."""
        return "-".join(word)

    assert guard.call("spell", {"word": "tea"}).text == "t-e-a"
    assert guard.call("spell", {"word": "7"}).kind == "invalid_arguments"


def test_other_systems_tools_are_called_too():
    schema = {"type": "object", "properties": {"a": LETTERS}}

    class Odd(brynhild.Tool):
        name = "odd"
        description = "Odd."
        input_schema = schema

        async def execute(self, arguments: dict[str, Any]) -> Any:
            return brynhild.ToolResult(success=True, output="ran")

    assert brynhild.ToolRegistry([Odd()], store=False).guard.call("odd", {"a": "x"}).success
    registry = llmproc.ToolRegistry(store=False)
    registry.register_tool("odd", lambda a: "ran", {"input_schema": schema})
    assert registry.guard.call("odd", {"a": "x"}).success


@pytest.mark.parametrize(
    "wrong",
    [{"name": "get weather"}, {"schema": {"type": "strin"}}, {"effect": "twice"}],
)
def test_what_is_wrong_with_a_tool_is_said_where_it_is_made(wrong):
    guard = Guard(store=False)
    with pytest.raises(ValueError):
        guard.tool(**wrong)(lambda: "never")
    guard.tool(lambda: "called", name="fine")
    assert guard.call("fine").text == "called"


def searched(text: str, config: RunnableConfig) -> str:
    return f"{text} as {config['metadata']['who']}"


class Searches(BaseTool):
    name: str = "search"
    description: str = "Searches."

    def _run(self, text: str, config: RunnableConfig, run_manager: Any = None) -> str:
        return searched(text, config)


@pytest.mark.parametrize("args", [{"__arg1": "tea"}, {"query": "tea"}])
@ways
def test_a_tool_of_a_single_text_is_called_with_it_alone(args, way):
    known = node(Tool("search", lambda text: f"found {text}", "Searches."))
    [message] = run(known, call("search", args), way=way)
    assert message.content == "found tea"


def test_the_configuration_is_not_the_models_to_give():
    for known in (node(Tool("search", searched, "Searches.")), node(Searches())):
        [spec] = known.guard.tools()
        assert "config" not in spec["input_schema"]["properties"]
        name = next(iter(spec["input_schema"]["properties"]))
        config = {**CONFIG, "metadata": {"who": "ann"}}
        asked = {"messages": [asks(call("search", {name: "tea"}))]}
        assert known.invoke(asked, config)["messages"][0].content == "tea as ann"
    [message] = run(known, call("search"))
    assert "`text`" in message.content and "config" not in message.content


def test_a_tool_of_a_single_text_works_within_the_middleware():
    search = Tool("search", lambda text: f"found {text}", "Searches.")
    messages = [AIMessage("", tool_calls=[call("search", {"__arg1": "tea"})]), AIMessage("bye")]
    agent = create_agent(
        Model(messages=iter(messages)), [search], middleware=[wrap_tool_call(store=False)]
    )
    done = agent.invoke({"messages": [HumanMessage("go")]})
    assert done["messages"][-2].content == "found tea"
