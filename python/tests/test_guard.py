"""The guard: every call is answered, exactly once, under its id."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
import threading
import time

import pytest

from breakfall import Guard


@pytest.fixture
def guard():
    return Guard(store=False)


def test_answers_with_what_the_function_returned(guard):
    @guard.tool
    def add(a: int, b: int = 2) -> int:
        """Adds two numbers."""
        return a + b

    reply = guard.call("add", {"a": 1}, id="call_1")
    assert (reply.id, reply.tool, reply.text, reply.is_error) == ("call_1", "add", "3", False)
    assert (reply.value, reply.success, reply.kind) == (3, True, None)
    assert add(1, 1) == 2


def test_answers_when_the_function_raises(guard):
    @guard.tool
    def read(path: str) -> str:
        """Reads a file."""
        return open(path).read()

    reply = guard.call("read", {"path": "/no/such/file"}, id="call_1")
    first, second = reply.text.splitlines()
    assert first == "`read` did not find `/no/such/file`."
    assert second.endswith(f"(ref {reply.reference})")
    assert (reply.id, reply.is_error, reply.kind) == ("call_1", True, "not_found")
    assert isinstance(reply.exception, FileNotFoundError)
    assert reply.value is None


def test_answers_an_unknown_name_with_the_nearest(guard):
    @guard.tool
    def search_files(query: str) -> str:
        """Searches."""
        return query

    reply = guard.call("serach_files", {"query": "x"}, id="7")
    assert reply.kind == "unknown_tool"
    assert reply.text.startswith("`serach_files` is not a tool. Nearest: `search_files`.")


def test_two_tools_of_one_name_are_refused(guard):
    def one() -> str:
        """One."""
        return "1"

    guard.tool(one)
    with pytest.raises(ValueError, match="two tools called `one`"):
        guard.tool(one)
    guard.call("one", {})
    with pytest.raises(ValueError, match="one"):
        guard.tool(one)


def test_a_function_past_its_time_is_left_behind_and_told_honestly():
    guard = Guard(store=False, timeout=0.05)
    released = threading.Event()

    @guard.tool
    def hang() -> str:
        """Hangs."""
        released.wait(30)
        return "late"

    reply = guard.call("hang", {})
    assert reply.kind == "timeout"
    assert "may have taken effect" in reply.text
    assert guard.stragglers() == (1, 0)
    released.set()
    while guard.stragglers() != (0, 1):
        time.sleep(0.01)


def test_a_coroutine_past_its_time_is_cancelled():
    guard = Guard(store=False, timeout=0.05)
    ended = []

    @guard.tool(effect="once")
    async def hang() -> str:
        """Hangs."""
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("cleaned up")
        return "late"

    reply = asyncio.run(guard.acall("hang", {}))
    assert (reply.kind, ended) == ("timeout", ["cleaned up"])
    assert guard.call("hang", {}).kind == "timeout"


def test_a_tool_may_have_a_time_of_its_own():
    guard = Guard(store=False, timeout=30)

    @guard.tool(timeout=0.05)
    async def hang() -> str:
        """Hangs."""
        await asyncio.sleep(30)
        return ""

    assert asyncio.run(guard.acall("hang", {})).kind == "timeout"
    with pytest.raises(ValueError, match="before the first call"):
        guard.tool(name="later", timeout=1.0)(lambda: None)


def test_without_a_time_a_function_runs_where_its_caller_is():
    guard = Guard(store=False, timeout=None)
    seen = []

    @guard.tool
    def where() -> str:
        """Where."""
        seen.append(threading.get_ident())
        return ""

    guard.call("where", {})
    assert seen == [threading.get_ident()]


def test_what_may_pass_is_tried_again_where_that_does_no_harm():
    guard = Guard(store=False)
    tries = []

    def flaky() -> str:
        """Flaky."""
        tries.append(1)
        if len(tries) < 2:
            raise ConnectionResetError(errno.ECONNRESET, "reset")
        return "there"

    guard.tool(effect="read_only")(flaky)
    assert (guard.call("flaky", {}).text, len(tries)) == ("there", 2)
    tries.clear()
    guard.tool(name="write", effect="once")(flaky)
    assert (guard.call("write", {}).is_error, len(tries)) == (True, 1)


def test_the_same_failing_call_is_not_run_for_ever(guard):
    runs = []

    @guard.tool
    def fails(a: int) -> str:
        """Fails."""
        runs.append(1)
        raise LookupError("no")

    kinds = [guard.call("fails", {"a": 1}, run="r").kind for _ in range(7)]
    assert (kinds[-1], len(runs)) == ("repeated", 4)
    guard.end_run("r")
    assert guard.call("fails", {"a": 1}, run="r").kind != "repeated"


def test_a_batch_is_answered_in_its_order_and_side_by_side(guard):
    together = threading.Barrier(5)

    @guard.tool
    def meet(n: int) -> int:
        """Meets the others."""
        together.wait(10)
        return n

    @guard.tool
    def fails() -> str:
        """Fails."""
        raise LookupError("no")

    calls = [{"name": "meet", "args": {"n": n}, "id": f"c{n}"} for n in range(5)]
    calls.insert(2, {"name": "fails", "args": {}, "id": "bad"})
    calls.append({"name": "nothing", "args": {}, "id": "unknown"})
    replies = guard.batch(calls)
    assert [reply.id for reply in replies] == ["c0", "c1", "bad", "c2", "c3", "c4", "unknown"]
    assert [reply.is_error for reply in replies] == [False, False, True, False, False, False, True]


def test_two_hundred_threads_are_all_answered(guard):
    @guard.tool
    def double(n: int) -> int:
        """Doubles."""
        if n % 2:
            raise LookupError(str(n))
        return n * 2

    replies = {}

    def call(n):
        replies[n] = guard.call("double", {"n": n}, id=str(n), run=str(n))

    threads = [threading.Thread(target=call, args=(n,)) for n in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: (reply.id, reply.is_error) for n, reply in replies.items()} == {
        n: (str(n), bool(n % 2)) for n in range(200)
    }
    assert guard.counts()["calls"] == 200
    assert guard.summary() == {"double:LookupError": 100}


def test_the_interpreter_is_free_while_the_guard_waits(guard):
    begun, released = threading.Event(), threading.Event()

    @guard.tool
    def wait() -> bool:
        """Waits."""
        begun.set()
        return released.wait(20)

    replies = []
    waiting = threading.Thread(target=lambda: replies.append(guard.call("wait", {})))
    waiting.start()
    assert begun.wait(20)
    # Who holds the interpreter while he waits would never let this be done.
    released.set()
    waiting.join()
    assert replies[0].value is True


def test_tools_are_switched_off_and_on(guard):
    @guard.tool
    def one() -> str:
        """One."""
        return "1"

    guard.disable("one")
    assert guard.call("one", {}).kind == "unavailable"
    guard.enable("one")
    assert guard.call("one", {}).text == "1"
    guard.remove("one")
    assert guard.call("one", {}).kind == "unknown_tool"


def test_options_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="sidekick-short"):
        Guard(store=False, preset="nobody").call("x")
    with pytest.raises(ValueError, match="strict"):
        Guard(store=False, checking="maybe").call("x")
    with pytest.raises(ValueError, match="seconds"):
        Guard(store=False, timeout=-1).call("x")
    with pytest.raises(ValueError, match="recoverable"):
        Guard(store=False, dispositions={"timeout": "maybe"}).call("x")


def test_dispositions_are_the_users(guard):
    guard = Guard(store=False, dispositions={"not_found": "fatal"})

    @guard.tool
    def read() -> str:
        """Reads."""
        raise FileNotFoundError("x")

    reply = guard.call("read", {})
    assert (reply.disposition, reply.is_fatal) == ("fatal", True)


def test_a_configuration_file_stands_above_the_code(tmp_path):
    file = tmp_path / "breakfall.toml"
    file.write_text('[guard]\npreset = "sidekick"\n')
    reply = Guard(store=False, config=file).call("nothing", {})
    assert reply.text.startswith("Tool Execution Failed\nTool: nothing\n")
    file.write_text("[guard]\nprest = 1\n")
    with pytest.raises(ValueError, match="prest"):
        Guard(store=False, config=file).call("nothing", {})


def test_replies_have_the_shapes_of_providers(guard):
    reply = guard.call("nothing", {}, id="c1")
    assert reply.message("openai") == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": reply.text,
    }
    assert reply.message("anthropic")["is_error"] is True
    with pytest.raises(ValueError, match="gemini"):
        reply.message("nobody")


def test_a_function_runs_where_threads_are_greenlets():
    # As gevent replaces them; one that is started has no turn while the caller waits.
    code = """
import _thread, sys, types
original = _thread.start_new_thread
monkey = types.ModuleType("gevent.monkey")
monkey.get_original = lambda module, name: original
sys.modules["gevent.monkey"] = monkey
_thread.start_new_thread = lambda *_: 0
from breakfall import Guard
guard = Guard(store=False, timeout=2)
guard.tool(lambda: "done", name="work")
print(guard.call("work").text)
print([reply.text for reply in guard.batch([("work",), ("work",)])])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["done", "['done', 'done']"], done
