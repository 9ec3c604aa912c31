"""What goes wrong beside a tool's own exception does not reach the model, or end the run."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import sys
import threading
import weakref
from typing import Annotated

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool, ToolException, tool
from nodes import CONFIG, call, node, run, ways
from pydantic import Field, create_model

from breakfall import Failure, Guard, redact
from breakfall.compat import brynhild, llmproc, sidekick

# Built from parts, so that no file holds anything of this shape.
KEY = "ghp_" + "R7kQz2VmT9xYb4LcW8nJp3HsD6fGa1EuK5iO"


Large = create_model("Large", **{f"f{i}": (int | None, None) for i in range(40)})


@ways
def test_what_a_tool_says_of_its_own_failure_has_no_secret_and_is_bounded(way):
    def leaks() -> str:
        """Leaks."""
        raise ToolException(f"key {KEY} " + "x" * 9000)

    own = StructuredTool.from_function(leaks, handle_tool_error=True)
    [message] = run(node(own), call("leaks"), way=way)
    assert message.status == "error"
    assert KEY not in message.content
    assert len(message.content.encode()) <= 2048


@ways
def test_blocks_that_tell_of_a_failure_have_no_secret(way):
    @tool
    def leaks() -> ToolMessage:
        """Leaks."""
        content = [{"type": "text", "text": f"key {KEY}"}]
        return ToolMessage(content, tool_call_id="c1", status="error")

    [message] = run(node(leaks), call("leaks"), way=way)
    assert message.status == "error"
    assert KEY not in str(message.content)


def test_results_of_other_systems_that_failed_have_no_secret():
    registry = llmproc.ToolRegistry(store=False)
    registry.register_tool(
        "leaks",
        lambda: llmproc.ToolResult.from_error(f"key {KEY}"),
        {"description": "Leaks.", "input_schema": {"type": "object"}},
    )
    result = asyncio.run(registry.call_tool("leaks"))
    assert result.is_error
    assert KEY not in str(result.content)

    class Leaks(brynhild.Tool):
        name = "leaks"  # type: ignore[assignment]
        description = "Leaks."  # type: ignore[assignment]
        input_schema = {"type": "object"}  # type: ignore[assignment]

        async def execute(self, input):
            return brynhild.ToolResult(False, f"out {KEY}", f"key {KEY}")

    results = asyncio.run(brynhild.ToolRegistry([Leaks()], store=False).execute("leaks"))
    assert not results.success
    assert KEY not in f"{results.output}{results.error}"


def test_threads_that_bring_the_same_tool_at_once_all_get_it():
    middleware = pytest.importorskip("breakfall._middleware")
    from types import SimpleNamespace

    for _ in range(10):

        @tool
        def big(b: Large) -> str:
            """Takes much."""
            return "k"

        guarded = middleware.GuardMiddleware(store=False)
        barrier = threading.Barrier(6)
        answers = []

        def go(big=big, guarded=guarded, barrier=barrier, answers=answers):
            barrier.wait()
            request = SimpleNamespace(
                tool=big,
                tool_call={"name": "big", "args": {"b": {}}, "id": "1"},
                runtime=SimpleNamespace(tools=[big]),
                state={"messages": []},
            )
            answer = guarded.wrap_tool_call(request, lambda _: ToolMessage("k", tool_call_id="1"))
            answers.append(answer.content)

        threads = [threading.Thread(target=go) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == ["k"] * 6


class Agent:
    def __init__(self) -> None:
        self.guard = Guard(store=False)
        self.guard.tool(self.double)

    def double(self, x: int) -> int:
        """Doubles."""
        return 2 * x


def test_an_agent_that_was_used_is_let_go():
    agent = Agent()
    assert agent.guard.call("double", {"x": 2}).text == "4"
    known = weakref.ref(agent)
    del agent
    gc.collect()
    assert known() is None


def test_a_node_that_was_used_is_let_go():
    @tool
    def add(a: int) -> int:
        """Adds."""
        return a

    used = node(add)
    assert run(used, call("add", {"a": 1}))[0].content == "1"
    known = weakref.ref(used)
    del used
    gc.collect()
    assert known() is None


def test_a_tools_own_timeout_is_kept_where_the_guard_keeps_none():
    guard = Guard(store=False, timeout=None)
    over = threading.Event()

    @guard.tool(timeout=0.2)
    def hangs() -> str:
        """Hangs."""
        over.wait(30)
        return "late"

    reply = guard.call("hangs")
    over.set()
    assert reply.kind == "timeout"


def test_a_timeout_of_the_environment_is_kept_where_the_guard_keeps_none(monkeypatch):
    monkeypatch.setenv("BREAKFALL_DEFAULTS__ATTEMPT_TIMEOUT", "200ms")
    monkeypatch.setenv("BREAKFALL_DEFAULTS__TOTAL_TIMEOUT", "300ms")
    guard = Guard(store=False, timeout=None)
    over = threading.Event()

    @guard.tool
    def hangs() -> str:
        """Hangs."""
        over.wait(30)
        return "late"

    reply = guard.call("hangs")
    over.set()
    assert reply.kind == "timeout"


def test_an_async_tool_may_call_the_guard_and_wait():
    guard = Guard(store=False, timeout=20)

    @guard.tool
    async def inner() -> str:
        """Is within."""
        return "in"

    @guard.tool
    async def outer() -> str:
        """Calls another."""
        return guard.call("inner").text + guard.call("inner").text

    assert guard.call("outer").text == "inin"


def test_functions_that_hang_do_not_stop_the_others():
    guard = Guard(store=False, timeout=1, total_timeout=1)
    over = threading.Event()

    @guard.tool
    def hangs() -> str:
        """Hangs."""
        over.wait(60)
        return "late"

    @guard.tool
    def quick() -> str:
        """Is quick."""
        return "q"

    guard.batch([("hangs", {}, str(number)) for number in range(300)])
    reply = guard.call("quick")
    over.set()
    assert reply.text == "q"


def test_a_function_that_never_began_had_no_effect():
    busy = Guard(store=False, timeout=60, total_timeout=60, concurrency=1000)
    over, begun = threading.Event(), threading.Semaphore(0)

    @busy.tool
    def waits() -> str:
        """Waits."""
        begun.release()
        over.wait(60)
        return "done"

    # More than there are threads for calls that somebody waits for: one that was left behind in
    # another test may come back meanwhile.
    calls = [("waits", {}, str(number)) for number in range(400)]
    thread = threading.Thread(target=busy.batch, args=(calls,))
    thread.start()
    for _ in range(256):
        assert begun.acquire(timeout=60)
    guard = Guard(store=False, timeout=0.2, total_timeout=0.2)
    ran = []
    guard.tool(name="effect")(lambda: ran.append(1))
    reply = guard.call("effect")
    over.set()
    thread.join()
    assert (reply.kind, ran) == ("timeout", [])
    assert "effect" not in reply.text.replace("`effect`", "")


LONE = "a\ud800b"


def test_a_lone_surrogate_does_not_end_the_run():
    guard = Guard(store=False)

    @guard.tool
    def odd(x: str = "") -> str:
        """Gives what no encoding has."""
        return LONE

    @guard.tool
    def odd_list() -> list[object]:
        """Gives it within, beside what JSON has no form for."""
        return [LONE, object]

    assert guard.call("odd", {"x": LONE}, id=LONE, run=LONE).text == "a\ufffd\ufffd\ufffdb"
    assert not guard.call("odd_list").is_error
    assert guard.call("odd", run=5).text == "a\ufffd\ufffd\ufffdb"  # type: ignore[arg-type]
    assert redact(LONE) == "a\ufffd\ufffd\ufffdb"

    @tool
    def lone() -> str:
        """Gives what no encoding has."""
        return LONE

    [message] = run(node(lone), call("lone"))
    assert message.status == "success"


def test_a_described_default_is_its_value():
    guard = Guard(store=False)

    @guard.tool
    def ten(x: int = Field(10, ge=1), y: Annotated[int, Field(ge=0)] = 3) -> list[int]:
        """Gives numbers."""
        return [x, y]

    assert guard.call("ten", {}).value == [10, 3]
    assert guard.call("ten", {"x": 4, "y": 5}).value == [4, 5]


@pytest.mark.parametrize("timeout", [30.0, None], ids=["on a thread", "with the caller"])
def test_what_a_function_gives_to_wait_for_is_waited_for(timeout):
    guard = Guard(store=False, timeout=timeout)

    async def later() -> str:
        await asyncio.sleep(0)
        return "here"

    @guard.tool
    def gives() -> object:
        """Gives a coroutine."""
        return later()

    async def fails() -> str:
        raise Failure("no tea", kind="not_found")

    @guard.tool
    def gives_failure() -> object:
        """Gives a coroutine that fails."""
        return fails()

    assert guard.call("gives").text == "here"
    assert asyncio.run(guard.acall("gives")).text == "here"
    assert guard.call("gives_failure").kind == "not_found"


def test_a_generator_is_no_result():
    guard = Guard(store=False)

    @guard.tool
    def gives() -> object:
        """Gives a generator."""
        return (number for number in range(3))

    assert guard.call("gives").kind == "invalid_output"


def test_a_declared_failure_keeps_its_class_for_the_handler():
    @tool
    def says() -> str:
        """Says why."""
        raise Failure("told") from KeyError("k")

    [message] = run(node(says, handle_tool_errors=Failure), call("says"))
    assert message.status == "error"
    assert "told" in message.content


def test_a_declared_failure_has_a_traceback_in_its_record():
    guard = Guard(store=False)

    @guard.tool
    def says() -> str:
        """Says why."""
        raise Failure("told")

    guard.call("says")
    [record] = guard.records()
    assert "in says" in record["failure"]["traceback"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no groups")
def test_every_exception_of_a_group_is_in_the_record():
    guard = Guard(store=False)

    @guard.tool
    def several() -> str:
        """Fails twice."""
        raise ExceptionGroup("both", [ValueError("first"), OSError("second")])  # noqa: F821

    guard.call("several")
    [record] = guard.records()
    assert "OSError: second" in record["failure"]["traceback"]


def test_large_numbers_are_told_as_they_are():
    guard = Guard(store=False)

    @guard.tool
    def wei() -> dict[str, object]:
        """Gives a large number."""
        return {"wei": 2**70 + 1}

    assert guard.call("wei").text == '{"wei": 1180591620717411303425}'


@ways
@pytest.mark.parametrize("id", [None, "missing"])
def test_a_call_without_an_id_runs_once_and_is_answered(way, id):
    ran = []

    @tool
    def effect() -> str:
        """Does something."""
        ran.append(1)
        return "done"

    asked = call("effect", id="")
    asked["id"] = None
    if id == "missing":
        del asked["id"]
    used = node(effect)
    if way == "sync":
        answered = used.invoke([asked], CONFIG)
    else:
        answered = asyncio.run(used.ainvoke([asked], CONFIG))
    [message] = answered["messages"]
    assert (message.content, message.status, len(ran)) == ("done", "success", 1)


def test_one_text_is_one_secret():
    guard = Guard(store=False, redact="tangerine")

    @guard.tool
    def tells() -> str:
        """Tells."""
        raise Failure("the word is tangerine, at last")

    text = guard.call("tells").text
    assert "tangerine" not in text
    assert "at last" in text


@pytest.mark.parametrize(
    "options",
    [
        {"preset": "nobody"},
        {"checking": "maybe"},
        {"timeout": -1},
        {"silent": "loud"},
        {"dispositions": {"timeout": "never"}},
    ],
)
def test_wrong_options_are_refused_where_they_are_said(options):
    with pytest.raises(ValueError):
        Guard(store=False, **options)


def test_a_timeout_of_nought_is_refused():
    guard = Guard(store=False)
    with pytest.raises(ValueError, match="number of seconds"):
        guard.tool(timeout=0)(lambda: "x")


def test_another_attempt_gets_the_arguments_that_the_model_gave():
    guard = Guard(store=False, attempts=2)
    seen = []

    @guard.tool(effect="read_only", schema={"type": "object"})
    def changes(**arguments: object) -> str:
        """Changes what it was given."""
        items = arguments["items"]
        assert isinstance(items, list)
        seen.append(list(items))
        items.append("more")
        if len(seen) == 1:
            raise ConnectionResetError("again")
        return "done"

    reply = guard.call("changes", {"items": ["a"]})
    assert (reply.text, seen, reply.exception) == ("done", [["a"], ["a"]], None)


def test_what_is_no_call_is_answered_beside_the_others():
    guard = Guard(store=False)

    @guard.tool
    def quick() -> str:
        """Is quick."""
        return "q"

    replies = guard.batch([("quick", {}, "1"), None])  # type: ignore[list-item]
    assert [reply.is_error for reply in replies] == [False, True]


def test_a_schema_that_langchain_does_not_check_makes_no_working_call_fail():
    shape = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "title": "counts",
        "description": "Counts.",
    }

    def counts(**given: object) -> str:
        if given["n"] == "none":
            raise ValueError("it is no number")
        return f"counted {given['n']}"

    made = StructuredTool(name="counts", description="Counts.", args_schema=shape, func=counts)
    [passed, refused] = run(
        node(made), call("counts", {"n": "many"}), call("counts", {"n": "none"}, "2")
    )
    assert passed.content == "counted many"
    assert refused.status == "error" and "`n`: expected an integer" in refused.content


def test_no_pair_of_content_and_artifact_is_an_invalid_output():
    @tool(response_format="content_and_artifact")
    def alone() -> str:
        """Gives no pair."""
        return "alone"

    used = node(alone)
    [message] = run(used, call("alone"))
    assert message.status == "error"
    [record] = used.guard.records()
    assert record["failure"]["kind"] == "invalid_output"


def test_a_copy_of_a_node_works():
    @tool
    def add(a: int) -> int:
        """Adds."""
        return a

    assert run(copy.deepcopy(node(add)), call("add", {"a": 1}))[0].content == "1"


def test_a_hint_for_type_checkers_only_does_not_stop_a_tool():
    guard = Guard(store=False)

    def one(x: int):
        """Gives one."""
        return x

    one.__annotations__ = {"x": "int", "return": "Missing"}
    guard.tool(one)
    assert guard.call("one", {"x": 1}).text == "1"


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_that_cannot_be_written_is_told():
    error = sidekick.ToolExecutionError("search", Silent())
    assert error.to_dict()["message"] == ""
    registry = sidekick.ToolErrorRegistry()
    registry.record_error("search", Silent())
    assert registry.get_error_summary() == {"search:Silent": 1}
    assert sidekick.create_tool_error_message("search", Silent(), "1").status == "error"


def test_an_error_of_a_tool_goes_to_another_process():
    error = sidekick.ToolExecutionError("search", ValueError("x"), {"q": 1})
    again = pickle.loads(pickle.dumps(error))
    assert again.to_dict() == error.to_dict()
    assert again.tool_input == {"q": 1}
