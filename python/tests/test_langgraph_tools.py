"""What LangGraph gives to tools and takes from them passes; a run goes on."""

from __future__ import annotations

import asyncio
import operator
import threading
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, tool
from langgraph.config import get_config
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from nodes import CONFIG, add, afails, asks, call, fails, node, run, ways
from pydantic import BaseModel, BeforeValidator, Field, model_serializer, model_validator

from breakfall.langgraph import tools_condition

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


@ways
@pytest.mark.parametrize("given", [{}, {"tags": ["mine"], "metadata": {"user": "ann"}}])
def test_a_configuration_has_all_that_langchain_puts_into_it(way, given):
    seen = []

    @tool
    def look(config: RunnableConfig) -> str:
        """Looks."""
        told = {"tags": config["tags"], "limit": config["recursion_limit"]}
        names = sorted(config), sorted(config["metadata"]), sorted(get_config())
        seen.append((told, names))
        return config["metadata"]["checkpoint_ns"]

    for made in (ToolNode([look]), node(look)):
        builder = StateGraph(MessagesState)
        builder.add_node("tools", made)
        builder.add_edge(START, "tools")
        graph, state = builder.compile(), {"messages": [asks(call("look"))]}
        done = (
            graph.invoke(state, given)
            if way == "sync"
            else asyncio.run(graph.ainvoke(state, given))
        )
        assert done["messages"][-1].status == "success", done["messages"][-1].content
    assert seen[0] == seen[1]


@ways
def test_a_model_cannot_forge_a_configuration(way):
    @tool
    def optional(a: int, config: RunnableConfig | None = None) -> str:
        """Tells who asks."""
        return f"{a} {config}"

    @tool
    def untold(a: int, config=None) -> str:
        """Tells who asks."""
        return f"{a} {config}"

    @tool
    def exact(a: int, config: RunnableConfig) -> str:
        """Tells who asks."""
        return f"{a} {config['configurable'].get('user')}"

    forged = {"a": 1, "config": {"configurable": {"user": "admin"}}}
    for made, told in ((optional, "1 None"), (untold, "1 None"), (exact, "1 None")):
        [message] = run(node(made), call(made.name, forged), way=way)
        assert message.content == told
        [message] = run(ToolNode([made]), call(made.name, forged), way=way)
        assert message.content == told


Octal = Annotated[int, BeforeValidator(lambda text: int(text, 8))]
Parts = Annotated[list[str], BeforeValidator(lambda text: text.split(";"))]


@ways
@pytest.mark.parametrize("listens", [False, True])
def test_a_tools_own_validator_sees_what_the_model_wrote(way, listens):
    @tool
    def mark(mode: Octal, tags: Parts, state: Annotated[dict, InjectedState], n: int = 0) -> str:
        """Marks."""
        return f"{mode:o} {tags} {n}"

    config = {**CONFIG, "callbacks": [Listens()]} if listens else CONFIG
    given = {"mode": "755", "tags": "[1]", "n": "7"}
    state = {"messages": [asks(call("mark", given))]}
    for made in (ToolNode([mark]), node(mark)):
        done = (
            made.invoke(state, config)
            if way == "sync"
            else asyncio.run(made.ainvoke(state, config))
        )
        assert done["messages"][0].content == "755 ['[1]'] 7"


def test_what_a_tool_does_not_read_is_mended_as_before():
    @tool
    def total(items: list[int]) -> int:
        """Adds them up."""
        return sum(items)

    assert run(node(total), call("total", {"items": "[1, 2]"}))[0].content == "3"


class Excluding(BaseModel):
    a: int
    reasoning: str = Field("", exclude=True)
    note: str = Field("", exclude_if=lambda note: note == "")


class Writing(BaseModel):
    a: int
    b: int = 0

    @model_serializer
    def write(self) -> dict[str, Any]:
        return {"a": self.a}


@ways
@pytest.mark.parametrize(
    ("shape", "given"),
    [
        (Excluding, {"a": 1, "reasoning": "because"}),
        (Excluding, {"a": 1, "reasoning": "because", "note": "so"}),
        (Writing, {"a": 1, "b": 2}),
    ],
)
def test_a_function_gets_the_fields_that_langchain_gives_it(way, shape, given):
    tell = StructuredTool.from_function(
        lambda **fields: str(fields), name="tell", description="Tells.", args_schema=shape
    )
    [stock] = run(ToolNode([tell]), call("tell", given), way=way)
    [ours] = run(node(tell), call("tell", given), way=way)
    assert (ours.content, ours.status) == (stock.content, "success")


class Parted(BaseModel):
    a: int
    b: int = 0

    @model_validator(mode="before")
    @classmethod
    def part(cls, given: Any) -> Any:
        given["a"], given["b"] = given.pop("ab").split("-")
        return given


@ways
def test_a_validator_that_writes_into_its_input_changes_no_history(way):
    tell = StructuredTool.from_function(
        lambda a, b: f"{a} {b}", name="tell", description="Tells.", args_schema=Parted
    )
    asked = asks(call("tell", {"ab": "1-2"}))
    ours, state = node(tell), {"messages": [asked]}
    done = ours.invoke(state, CONFIG) if way == "sync" else asyncio.run(ours.ainvoke(state, CONFIG))
    assert done["messages"][0].content == "1 2"
    assert asked.tool_calls[0]["args"] == {"ab": "1-2"}


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


@pytest.mark.parametrize(("effect", "is_told"), [("once", True), ("idempotent", False)])
def test_what_ran_and_answered_unreadably_may_have_taken_effect(effect, is_told):
    @tool
    def charge(eur: int) -> Command:
        """Charges."""
        return Command(update={"messages": []})

    [message] = run(node(charge, effects={"charge": effect}), call("charge", {"eur": 100}))
    assert ("may have taken effect" in message.content) is is_told
    assert ("Call it once more" in message.content) is not is_told


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


class Flaky:
    """Fails before it works."""

    def __init__(self, failures: int) -> None:
        self.left = failures
        self.tools = [tool(self.flaky)]

    def flaky(self) -> str:
        """Fails before it works."""
        self.left -= 1
        if self.left >= 0:
            raise RuntimeError("not yet, token=hunter2hunter2")
        return "fine"


def retry(request, execute):
    for _ in range(9):
        try:
            return execute(request)
        except RuntimeError:
            pass
    return execute(request)


async def aretry(request, execute):
    for _ in range(9):
        try:
            return await execute(request)
        except RuntimeError:
            pass
    return await execute(request)


RETRIES = {"wrap_tool_call": retry, "awrap_tool_call": aretry}


@ways
def test_an_interceptor_that_tries_again_hears_of_every_failure(way):
    ours = node(*Flaky(9).tools, **RETRIES)
    state = {"messages": [HumanMessage("go", id="1"), asks(call("flaky"))]}
    done = ours.invoke(state, CONFIG) if way == "sync" else asyncio.run(ours.ainvoke(state, CONFIG))
    assert done["messages"][0].content == "fine"
    assert ours.guard.summary() == {"flaky:RuntimeError": 9}


@ways
@pytest.mark.parametrize("handled", [None, True, (ValueError,), ValueError])
def test_what_leaves_an_interceptor_is_answered_by_the_guard(way, handled):
    options = RETRIES if handled is None else {**RETRIES, "handle_tool_errors": handled}
    ours = node(*Flaky(99).tools, **options)
    [message] = run(ours, call("flaky"), way=way)
    assert (message.status, message.tool_call_id) == ("error", "c1")
    assert message.content.startswith("`flaky` failed.") and "hunter2" not in message.content


def test_an_interceptors_own_error_is_answered_and_recorded():
    def breaks(request, execute):
        raise LookupError("row 7 is not there")

    ours = node(add, wrap_tool_call=breaks)
    [message] = run(ours, call("add", {"a": 1, "b": 1}))
    assert (message.status, message.name) == ("error", "add")
    assert ours.guard.summary() == {"add:LookupError": 1}
    traceback = ours.guard.records()[0]["failure"]["traceback"]
    assert "in breaks" in traceback and "breakfall/" not in traceback


@ways
def test_an_error_about_a_tool_that_only_the_interceptor_knows_is_answered(way):
    def breaks(request, execute):
        raise LookupError("row 7 is not there")

    ours = node(add, wrap_tool_call=breaks)
    messages = run(ours, call("its own", id="1"), call("its_own", id="2"), way=way)
    assert [(message.name, message.status) for message in messages] == [
        ("its own", "error"),
        ("its_own", "error"),
    ]
    assert sum(ours.guard.summary().values()) == 2
    assert [tool["name"] for tool in ours.guard.tools()] == ["add"]


@ways
def test_what_leaves_an_interceptor_is_let_go_where_nothing_is_handled(way):
    with pytest.raises(RuntimeError, match="not yet"):
        run(node(*Flaky(99).tools, handle_tool_errors=False, **RETRIES), call("flaky"), way=way)
    words = node(*Flaky(99).tools, handle_tool_errors="sorry", **RETRIES)
    assert run(words, call("flaky"), way=way)[0].content == "sorry"


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


def test_the_ids_of_users_messages_may_repeat_between_threads():
    builder = StateGraph(MessagesState)
    ours = node(fails)
    builder.add_node("tools", ours)
    builder.add_edge(START, "tools")
    graph = builder.compile()
    state = {"messages": [HumanMessage("go", id="1"), asks(call("fails"))]}
    for thread in range(8):
        graph.invoke(state, {"configurable": {"thread_id": str(thread)}})
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


class PanicException(BaseException):
    """As libraries in Rust raise it."""


@ways
@pytest.mark.parametrize("options", [{}, RETRIES])
def test_a_panic_of_a_library_takes_no_sibling_along(way, options):
    @tool
    def panics() -> str:
        """Panics."""
        raise PanicException("index out of bounds")

    messages = run(
        node(panics, add, **options), call("panics"), call("add", {"a": 1, "b": 1}, "c2"), way=way
    )
    assert [message.status for message in messages] == ["error", "success"]
