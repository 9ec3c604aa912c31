"""The node stands where LangGraph's own stands, and goes on where that dies."""

from __future__ import annotations

import asyncio
import threading
import time

import pydantic
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolInvocationError
from langgraph.types import Command, interrupt
from nodes import CONFIG, add, afails, asks, call, fails, node, run, told, ways

from breakfall.langgraph import tools_condition


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


@pytest.mark.parametrize("options", [{}, {"timeout": None}])
def test_no_more_calls_run_at_once_than_the_configuration_lets(options):
    running, most = set(), []
    lock = threading.Lock()

    @tool
    def work(n: int) -> int:
        """Works."""
        with lock:
            running.add(n)
            most.append(len(running))
        time.sleep(0.005)
        with lock:
            running.remove(n)
        return n

    state = {"messages": [asks(*(call("work", {"n": n}, str(n)) for n in range(8)))]}
    done = node(work, **options).invoke(state, {**CONFIG, "max_concurrency": 2})
    assert [message.content for message in done["messages"]] == [str(n) for n in range(8)]
    assert max(most) <= 2


def test_calls_that_wait_for_their_place_are_not_late():
    @tool
    def work(n: int) -> int:
        """Works."""
        time.sleep(0.05)
        return n

    state = {"messages": [asks(*(call("work", {"n": n}, str(n)) for n in range(4)))]}
    done = node(work, timeout=0.15).invoke(state, {**CONFIG, "max_concurrency": 1})
    assert [message.status for message in done["messages"]] == ["success"] * 4


def test_async_siblings_are_waited_for():
    @tool
    async def slow() -> str:
        """Takes its time."""
        await asyncio.sleep(0.05)
        return "done"

    messages = run(node(slow, afails), call("slow", id="1"), call("afails", id="2"), way="async")
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


def around(request, execute):
    return execute(request)


async def around_later(request, execute):
    return await execute(request)


INTERCEPTED = {"wrap_tool_call": around, "awrap_tool_call": around_later}


@ways
@pytest.mark.parametrize("options", [{}, {"timeout": None}, INTERCEPTED])
def test_an_answer_goes_to_the_call_that_was_asked_about(way, options):
    other = threading.Event()

    @tool
    def delete(name: str) -> str:
        """Deletes after a person agreed."""
        if name == "scratch":
            other.wait(10)
        other.set()
        return f"{name}: {interrupt(name)}"

    builder = StateGraph(MessagesState)
    builder.add_node("tools", node(delete, **options))
    builder.add_edge(START, "tools")
    graph = builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}

    def go(given):
        other.clear()
        if way == "sync":
            return graph.invoke(given, config)
        return asyncio.run(graph.ainvoke(given, config))

    calls = [call("delete", {"name": name}, name) for name in ("scratch", "production")]
    state = go({"messages": [asks(*calls)]})
    answers = {"scratch": "yes", "production": "no"}
    while state.get("__interrupt__"):
        state = go(Command(resume=answers[state["__interrupt__"][0].value]))
    assert [m.content for m in state["messages"][1:]] == ["scratch: yes", "production: no"]


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


@pytest.mark.parametrize(
    "given", ["sorry", [{"type": "text", "text": "sorry"}], ("a", "b"), 7, None]
)
@pytest.mark.parametrize("options", [{}, {"wrap_tool_call": lambda request, run: run(request)}])
def test_what_a_function_says_is_told_as_langgraph_tells_it(given, options):
    handled = {"handle_tool_errors": lambda error: given, **options}
    [ours] = run(node(fails, **handled), call("fails"))
    [stock] = run(ToolNode([fails], **handled), call("fails"))
    assert (ours.content, ours.status) == (stock.content, "error")
