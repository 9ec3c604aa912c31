"""The node stands where LangGraph's own stands, and goes on where that dies."""

from __future__ import annotations

import asyncio
import operator
import threading
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime
from langgraph.prebuilt.tool_node import ToolInvocationError
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt

from breakfall.langgraph import ErrorHandlingToolNode, tools_condition

CONFIG: RunnableConfig = {"configurable": {"__pregel_runtime": Runtime()}}


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@tool
def fails(a: int = 0) -> str:
    """Fails."""
    raise LookupError("row 7 is not there")


@tool
async def afails() -> str:
    """Fails."""
    raise LookupError("row 7 is not there")


@tool
def told() -> str:
    """Says why it fails."""
    raise ToolException("the shop is closed on Sundays")


def node(*tools: Any, **options: Any) -> ErrorHandlingToolNode:
    options.setdefault("store", False)
    return ErrorHandlingToolNode(tools, **options)


def call(name: str, args: Any = None, id: str = "c1") -> dict[str, Any]:
    return {"name": name, "args": args or {}, "id": id, "type": "tool_call"}


def asks(*calls: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=list(calls))


def run(node: ErrorHandlingToolNode, *calls: dict[str, Any], way: str = "sync") -> list[Any]:
    state = {"messages": [asks(*calls)]}
    if way == "sync":
        return node.invoke(state, CONFIG)["messages"]
    return asyncio.run(node.ainvoke(state, CONFIG))["messages"]


ways = pytest.mark.parametrize("way", ["sync", "async"])


def test_it_is_a_tool_node():
    assert isinstance(node(add), ToolNode)
    assert node(add).tools_by_name == {"add": add} == node(add).tools


@ways
def test_answers_with_the_tools_message(way):
    [message] = run(node(add), call("add", {"a": 1, "b": 2}, "x"), way=way)
    assert message == ToolMessage("3", name="add", tool_call_id="x")


@ways
@pytest.mark.parametrize("broken", [fails, afails])
def test_a_raising_tool_is_answered(way, broken):
    [message] = run(node(broken), call(broken.name, id="x"), way=way)
    assert (message.status, message.tool_call_id, message.name) == ("error", "x", broken.name)
    assert message.content.startswith(f"`{broken.name}` ")
    assert "row 7" not in message.content


def test_the_stock_node_dies_of_the_same():
    with pytest.raises(LookupError):
        ToolNode([fails]).invoke({"messages": [asks(call("fails"))]}, CONFIG)


@ways
def test_an_unknown_tool_is_answered_with_those_that_exist(way):
    [message] = run(node(add), call("ad"), way=way)
    assert message.status == "error"
    assert message.content.startswith("`ad` is not a tool. Nearest: `add`.")


@ways
def test_invalid_arguments_are_answered_with_every_problem(way):
    [message] = run(node(add), call("add", {"a": "x"}), way=way)
    assert message.status == "error"
    assert all(f"`{name}`" in message.content for name in "ab"), message.content


class Order(pydantic.BaseModel):
    count: int

    @pydantic.field_validator("count")
    @classmethod
    def even(cls, count: int) -> int:
        if count % 2:
            raise ValueError("it must be even")
        return count


@ways
def test_what_only_the_tool_refuses_is_told_by_its_path(way):
    @tool
    def buy(order: Order) -> str:
        """Buys."""
        return "bought"

    [message] = run(node(buy), call("buy", {"order": {"count": 3}}), way=way)
    assert (message.status, "it must be even" in message.content) == ("error", True)
    assert "`order.count`" in message.content


def test_a_number_written_as_a_text_is_no_reason_to_fail():
    assert run(node(add), call("add", {"a": "1", "b": 2}))[0].content == "3"


@ways
def test_a_malformed_call_is_answered(way):
    bad = {
        "name": "add",
        "args": '{"a": 1, "b"',
        "id": "bad",
        "error": "cut",
        "type": "invalid_tool_call",
    }
    good = call("add", {"a": 1, "b": 1}, "good")
    state = {"messages": [AIMessage("", tool_calls=[good], invalid_tool_calls=[bad])]}
    ours = node(add)
    answer = (
        ours.invoke(state, CONFIG) if way == "sync" else asyncio.run(ours.ainvoke(state, CONFIG))
    )
    first, second = answer["messages"]
    assert (first.content, second.tool_call_id, second.status) == ("2", "bad", "error")
    assert "cut off" in second.content
    assert tools_condition({"messages": [AIMessage("", invalid_tool_calls=[bad])]}) == "tools"


@ways
@pytest.mark.parametrize(
    ("state", "nothing"),
    [
        ({"messages": []}, {"messages": []}),
        ({}, {"messages": []}),
        ({"messages": [HumanMessage("hi")]}, {"messages": []}),
        ({"messages": [AIMessage("done")]}, {"messages": []}),
        ([], []),
        ([AIMessage("done")], []),
    ],
)
def test_without_messages_or_calls_there_is_nothing_to_say(way, state, nothing):
    ours = node(add)
    if way == "sync":
        assert ours.invoke(state, CONFIG) == nothing
    else:
        assert asyncio.run(ours.ainvoke(state, CONFIG)) == nothing


@ways
def test_a_batch_keeps_order_and_ids(way):
    calls = [
        call("add", {"a": 1, "b": 1}, "1"),
        call("fails", id="2"),
        call("nothing", id="3"),
        call("add", {"a": 2, "b": 2}, "4"),
        call("add", {"a": []}, "5"),
    ]
    messages = run(node(add, fails), *calls, way=way)
    assert [(message.tool_call_id, message.status) for message in messages] == [
        ("1", "success"),
        ("2", "error"),
        ("3", "error"),
        ("4", "success"),
        ("5", "error"),
    ]
    assert [messages[0].content, messages[3].content] == ["2", "4"]


def test_calls_of_a_batch_run_side_by_side():
    together = threading.Barrier(10)

    @tool
    def meet(n: int) -> int:
        """Meets the others."""
        together.wait(10)
        return n

    messages = run(node(meet), *(call("meet", {"n": n}, str(n)) for n in range(10)))
    assert [message.content for message in messages] == [str(n) for n in range(10)]


def test_async_siblings_are_waited_for():
    @tool
    async def slow() -> str:
        """Takes its time."""
        await asyncio.sleep(0.05)
        return "done"

    messages = run(
        node(slow, afails), call("slow", id="1"), call("afails", id="2"), way="async"
    )
    assert [message.status for message in messages] == ["success", "error"]


@pytest.mark.parametrize("handled", [None, True, (GraphBubbleUp,), "handled", False])
@ways
def test_an_interrupt_passes_through(handled, way):
    @tool
    def asks_a_person() -> str:
        """Asks a person."""
        raise GraphBubbleUp("wait")

    options = {} if handled is None else {"handle_tool_errors": handled}
    with pytest.raises(GraphBubbleUp, match="wait"):
        run(node(asks_a_person, **options), call("asks_a_person"), way=way)


@ways
def test_an_interrupt_in_a_graph_is_answered_and_resumed(way):
    @tool
    def ask(question: str) -> str:
        """Asks a person."""
        return f"they said {interrupt(question)}"

    builder = StateGraph(MessagesState)
    builder.add_node("tools", node(ask))
    builder.add_edge(START, "tools")
    graph = builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}

    def go(given):
        if way == "sync":
            return graph.invoke(given, config)
        return asyncio.run(graph.ainvoke(given, config))

    paused = go({"messages": [asks(call("ask", {"question": "really?"}))]})
    assert paused["__interrupt__"][0].value == "really?"
    done = go(Command(resume="yes"))
    assert done["messages"][-1].content == "they said yes"


# `handle_tool_errors`, as LangGraph has it.


@ways
@pytest.mark.parametrize("handled", [True, (LookupError, ToolException), Exception])
def test_what_is_handled_is_answered_by_the_guard(handled, way):
    first, second = run(
        node(fails, told, handle_tool_errors=handled),
        call("fails", id="1"),
        call("told", id="2"),
        way=way,
    )
    assert (first.status, second.status) == ("error", "error")
    assert "> the shop is closed on Sundays" in second.content


def test_other_words_are_the_users():
    assert run(node(fails, handle_tool_errors="sorry"), call("fails"))[0].content == "sorry"

    def say(error: LookupError) -> str:
        return f"no: {error}"

    [message] = run(node(fails, handle_tool_errors=say), call("fails"))
    assert (message.content, message.status) == ("no: row 7 is not there", "error")


@ways
@pytest.mark.parametrize("handled", [ValueError, (ValueError,), False])
def test_what_is_not_handled_is_let_go_and_recorded(handled, way):
    ours = node(fails, handle_tool_errors=handled)
    with pytest.raises(LookupError, match="row 7"):
        run(ours, call("fails"), way=way)
    assert ours.guard.summary() == {"fails:LookupError": 1}


def test_a_handler_is_asked_by_its_type_only():
    def say(error: ValueError) -> str:
        return "never"

    with pytest.raises(LookupError):
        run(node(fails, handle_tool_errors=say), call("fails"))


@ways
def test_bad_arguments_are_let_go_as_langgraph_raises_them(way):
    with pytest.raises(ToolInvocationError, match="add"):
        run(node(add, handle_tool_errors=False), call("add", {"a": []}), way=way)


def test_an_unknown_tool_is_answered_even_where_nothing_is_handled():
    assert run(node(add, handle_tool_errors=False), call("nothing"))[0].status == "error"


def test_a_tools_own_handler_comes_first():
    own = StructuredTool.from_function(
        told.func, name="told", description="x", handle_tool_error="ask me tomorrow"
    )
    [message] = run(node(own, handle_tool_errors="node"), call("told"))
    assert (message.content, message.status) == ("ask me tomorrow", "error")


# What LangGraph gives to tools, and takes from them.


class State(MessagesState):
    who: str


@ways
def test_state_store_runtime_and_ids_are_injected(way):
    store = InMemoryStore()
    store.put(("notes",), "one", {"text": "kept"})

    @tool
    def look(
        n: int,
        who: Annotated[str, InjectedState("who")],
        state: Annotated[dict, InjectedState],
        store: Annotated[Any, InjectedStore()],
        id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime,
        config: RunnableConfig,
    ) -> str:
        """Looks."""
        kept = store.get(("notes",), "one").value["text"]
        in_config = config["configurable"]["own"]
        return f"{n} {who} {len(state['messages'])} {kept} {id} {runtime.tool_call_id} {in_config}"

    builder = StateGraph(State)
    builder.add_node("tools", node(look))
    builder.add_edge(START, "tools")
    graph = builder.compile(store=store)
    given = {"messages": [asks(call("look", {"n": 1, "who": "forged"}, "c9"))], "who": "ann"}
    config = {"configurable": {"own": "mine"}}
    if way == "sync":
        done = graph.invoke(given, config)
    else:
        done = asyncio.run(graph.ainvoke(given, config))
    assert done["messages"][-1].content == "1 ann 1 kept c9 c9 mine"


def test_what_is_injected_is_in_no_message_about_arguments():
    @tool
    def look(n: int, state: Annotated[dict, InjectedState]) -> str:
        """Looks."""
        return "x"

    [message] = run(node(look), call("look", {"n": []}))
    assert "`n`" in message.content and "state" not in message.content


@ways
def test_commands_pass(way):
    @tool
    def go(id: Annotated[str, InjectedToolCallId]) -> Command:
        """Goes."""
        return Command(update={"messages": [ToolMessage("went", tool_call_id=id)]}, goto="there")

    state = {"messages": [asks(call("go", id="1"), call("add", {"a": 1, "b": 1}, "2"))]}
    ours = node(go, add)
    answer = (
        ours.invoke(state, CONFIG) if way == "sync" else asyncio.run(ours.ainvoke(state, CONFIG))
    )
    command, messages = answer
    assert (command.goto, command.update["messages"][0].content) == ("there", "went")
    assert messages == {"messages": [ToolMessage("2", name="add", tool_call_id="2")]}


def test_a_command_without_an_answer_is_the_tools_fault():
    @tool
    def go() -> Command:
        """Goes."""
        return Command(update={"messages": []})

    ours = node(go)
    [message] = run(ours, call("go"))
    assert (message.status, ours.guard.records()[0]["failure"]["kind"]) == (
        "error",
        "invalid_output",
    )
    with pytest.raises(ValueError, match="matching ToolMessage"):
        run(node(go, handle_tool_errors=False), call("go"))


@ways
def test_artifacts_and_blocks_pass(way):
    @tool(response_format="content_and_artifact")
    def draw() -> tuple[Any, Any]:
        """Draws."""
        return [{"type": "image_url", "image_url": {"url": "abc"}}], {"raw": 1}

    [message] = run(node(draw), call("draw"), way=way)
    assert message.content == [{"type": "image_url", "image_url": {"url": "abc"}}]
    assert message.artifact == {"raw": 1}


def test_lists_models_and_calls_are_taken_as_input():
    ours = node(add)
    assert ours.invoke([asks(call("add", {"a": 1, "b": 1}))], CONFIG)[0].content == "2"
    assert ours.invoke([call("add", {"a": 1, "b": 1})], CONFIG)["messages"][0].content == "2"

    @dataclass
    class Plain:
        messages: list[Any]

    assert ours.invoke(Plain([asks(call("add", {"a": 1, "b": 1}))]), CONFIG)["messages"]
    keyed = node(add, messages_key="chat")
    assert keyed.invoke({"chat": [asks(call("add", {"a": 1, "b": 1}))]}, CONFIG)["chat"]


def test_tools_that_are_classes_are_called_their_way():
    class Own(BaseTool):
        name: str = "own"
        description: str = "Own."

        def _run(self, n: int) -> str:
            return f"ran {n}"

        async def _arun(self, n: int) -> str:
            return f"awaited {n}"

    assert run(node(Own()), call("own", {"n": 1}))[0].content == "ran 1"
    assert run(node(Own()), call("own", {"n": 1}), way="async")[0].content == "awaited 1"


def test_a_coroutine_tool_is_called_without_a_loop_as_well():
    @tool
    async def later() -> str:
        """Later."""
        await asyncio.sleep(0)
        return "there"

    assert run(node(later), call("later"))[0].content == "there"


def test_defaults_and_keyword_arguments_reach_the_function():
    @tool
    def order(item: str, count: int = 3, *, note: str = "none") -> str:
        """Orders."""
        return f"{item} {count} {note}"

    assert run(node(order), call("order", {"item": "tea"}))[0].content == "tea 3 none"


class Listens(BaseCallbackHandler):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_tool_start(self, serialized: Any, input_str: str, **_: Any) -> None:
        self.heard.append("start " + serialized["name"])

    def on_tool_end(self, output: Any, **_: Any) -> None:
        self.heard.append("end " + output.content)

    def on_tool_error(self, error: BaseException, **_: Any) -> None:
        self.heard.append("error " + str(error))


def test_who_listens_hears_of_every_tool():
    listens = Listens()
    state = {"messages": [asks(call("add", {"a": 1, "b": 1}, "1"))]}
    ours = node(add, fails)
    ours.invoke(state, {**CONFIG, "callbacks": [listens]})
    ours.invoke({"messages": [asks(call("fails"))]}, {**CONFIG, "callbacks": [listens]})
    assert listens.heard == ["start add", "end 2", "start fails", "error row 7 is not there"]


def test_interceptors_lead_and_each_execution_is_guarded():
    seen = []

    def twice(request, execute):
        first = execute(request)
        seen.append(first.status)
        changed = {**request.tool_call, "args": {"a": 5, "b": 5}}
        return execute(request.override(tool_call=changed))

    [message] = run(node(add, wrap_tool_call=twice), call("add", {"a": []}))
    assert (seen, message.content) == (["error"], "10")

    async def around(request, execute):
        return await execute(request)

    [message] = run(node(afails, awrap_tool_call=around), call("afails"), way="async")
    assert message.status == "error"


def test_errors_are_summed_up():
    ours = node(add, fails)
    run(ours, call("fails", id="1"), call("add", {"a": 1, "b": 1}, "2"))
    run(ours, call("fails", {"a": 1}, "3"))
    summary = ours.get_error_summary()
    assert list(summary) == ["fails"]
    assert [(e["error_type"], e["error_message"]) for e in summary["fails"]] == [
        ("LookupError", "row 7 is not there")
    ] * 2
    assert summary["fails"][0]["timestamp"] <= summary["fails"][1]["timestamp"]
    assert ours.tool_error_registry == summary


def test_a_run_is_from_a_user_message_to_its_end():
    ours = node(fails)

    def once(human: str) -> str:
        state = {"messages": [HumanMessage("go", id=human), asks(call("fails"))]}
        ours.invoke(state, CONFIG)
        return ours.guard.records()[-1]["failure"]["kind"]

    kinds = [once("one") for _ in range(6)]
    assert kinds[-1] == "repeated"
    assert once("two") != "repeated"
    # Of calls that nobody can tell apart none is a repeat.
    assert [run(ours, call("fails"))[0].status for _ in range(8)] == ["error"] * 8
    assert ours.guard.records()[-1]["failure"]["kind"] != "repeated"


def test_long_outputs_are_cut_and_the_artifact_stays():
    @tool(response_format="content_and_artifact")
    def long() -> tuple[str, Any]:
        """Long."""
        return "x" * 200_000, {"whole": True}

    [message] = run(node(long), call("long"))
    assert len(message.content) <= 100 << 10 and "200000 bytes in all" in message.content
    assert (message.artifact, message.status) == ({"whole": True}, "success")


def test_a_hanging_tool_does_not_hang_the_run():
    released = threading.Event()

    @tool
    def hang() -> str:
        """Hangs."""
        released.wait(30)
        return ""

    [message] = run(node(hang, timeout=0.05), call("hang"))
    assert (message.status, "may have taken effect" in message.content) == ("error", True)
    released.set()


def test_a_graph_goes_on():
    class Counts(MessagesState):
        turns: Annotated[int, operator.add]

    def model(state):
        answers = [message for message in state["messages"] if isinstance(message, ToolMessage)]
        asked = [asks(call("fails", id="1")), asks(call("add", {"a": 1, "b": 1}, "2"))]
        said = asked[len(answers)] if len(answers) < 2 else AIMessage("2, in the end")
        return {"messages": [said], "turns": 1}

    builder = StateGraph(Counts)
    builder.add_node("model", model)
    builder.add_node("tools", node(add, fails))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    done = builder.compile().invoke({"messages": [HumanMessage("1 + 1?")], "turns": 0})
    assert (done["messages"][-1].content, done["turns"]) == ("2, in the end", 3)
