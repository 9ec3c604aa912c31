"""What is no failure is not swallowed, and what ends a call leaves its trace."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading

import pytest

from breakfall import Guard


class Interrupt(Exception):
    pass


@pytest.fixture(params=[30.0, None], ids=["on a thread", "with the caller"])
def guard(request):
    return Guard(store=False, timeout=request.param, passes=[Interrupt])


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError, Interrupt]
)
def test_goes_on_upwards(guard, error):
    raised = error("mine")

    @guard.tool
    def leave() -> str:
        """Leaves."""
        raise raised

    with pytest.raises(error) as caught:
        guard.call("leave", {}, id="1")
    assert caught.value is raised
    assert guard.counts() == {
        "calls": 1,
        "succeeded": 0,
        "partial": 0,
        "substituted": 0,
        "failed": 0,
        "abandoned": 1,
    }


class PanicException(BaseException):
    """As libraries in Rust raise it."""


class BaseExceptionGroup(BaseException):
    """As Python has it since 3.11."""

    def __init__(self, *errors):
        super().__init__("several")
        self.exceptions = errors


@pytest.mark.parametrize("way", ["function", "coroutine"])
def test_what_ends_nothing_larger_is_answered_and_takes_no_sibling_along(guard, way):
    def panic() -> str:
        """Panics."""
        raise PanicException("index out of bounds")

    async def apanic() -> str:
        """Panics."""
        panic()

    guard.tool(panic if way == "function" else apanic, name="panic")
    guard.tool(lambda: "here", name="stay")
    calls = [("panic", {}, "1"), ("stay", {}, "2")]
    for replies in (
        [guard.call(*calls[0][:2]), guard.call(*calls[1][:2])],
        guard.batch(calls),
        asyncio.run(guard.abatch(calls)),
    ):
        assert [reply.is_error for reply in replies] == [True, False]
        assert "out of bounds" not in replies[0].text
    assert guard.summary() == {"panic:PanicException": 3}


@pytest.mark.parametrize(
    ("error", "leaves"), [(KeyboardInterrupt(), True), (PanicException("x"), False)]
)
def test_a_group_leaves_with_what_leaves_in_it(guard, error, leaves):
    @guard.tool
    def several() -> str:
        """Fails."""
        raise BaseExceptionGroup(ValueError("x"), error)

    if leaves:
        with pytest.raises(BaseExceptionGroup):
            guard.call("several")
    else:
        assert guard.call("several").is_error


def test_a_test_that_fails_within_a_tool_fails(guard):
    @guard.tool
    def test() -> str:
        """Tests."""
        pytest.fail("on purpose")

    with pytest.raises(pytest.fail.Exception):
        guard.call("test")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_would_end_a_loop_ends_its_caller_only(guard, error):
    @guard.tool
    async def leave() -> str:
        """Leaves."""
        raise error("mine")

    @guard.tool
    async def stay() -> str:
        """Stays."""
        return "here"

    with pytest.raises(error, match="mine"):
        guard.call("leave", {})
    assert guard.call("stay", {}).text == "here"


@pytest.mark.parametrize("error", [GeneratorExit, Interrupt])
def test_goes_on_upwards_from_a_coroutine(guard, error):
    @guard.tool
    async def leave() -> str:
        """Leaves."""
        await asyncio.sleep(0)
        raise error("mine")

    with pytest.raises(error, match="mine"):
        asyncio.run(guard.acall("leave", {}))
    with pytest.raises(error, match="mine"):
        guard.call("leave", {})


def test_a_task_that_is_cancelled_within_is_cancelled_without(guard):
    @guard.tool
    async def leave() -> str:
        """Leaves."""
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(guard.acall("leave", {}))


def test_a_batch_is_done_before_an_interrupt_goes_on(guard):
    done = []

    @guard.tool
    def work(n: int) -> str:
        """Works."""
        done.append(n)
        return ""

    @guard.tool
    def leave() -> str:
        """Leaves."""
        raise Interrupt("mine")

    calls = [("work", {"n": 1}, "1"), ("leave", {}, "2"), ("work", {"n": 2}, "3")]
    with pytest.raises(Interrupt, match="mine"):
        guard.batch(calls)
    assert sorted(done) == [1, 2]


def test_a_cancelled_caller_takes_its_coroutine_along():
    guard = Guard(store=False)

    async def main():
        begun, ended = asyncio.Event(), asyncio.Event()

        @guard.tool
        async def hang() -> str:
            """Hangs."""
            begun.set()
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                ended.set()
                raise
            return ""

        waiting = asyncio.create_task(guard.acall("hang", {}))
        await begun.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(ended.wait(), 20)

    asyncio.run(main())
    assert guard.counts()["abandoned"] == 1


def test_a_failing_sibling_disturbs_nobody():
    guard = Guard(store=False)

    @guard.tool
    async def fails() -> str:
        """Fails."""
        raise LookupError("at once")

    @guard.tool
    async def slow() -> str:
        """Takes its time."""
        await asyncio.sleep(0.05)
        return "done"

    async def main():
        return await guard.abatch([("slow", {}, "1"), ("fails", {}, "2"), ("slow", {}, "3")])

    replies = asyncio.run(main())
    assert [(reply.id, reply.text if not reply.is_error else "!") for reply in replies] == [
        ("1", "done"),
        ("2", "!"),
        ("3", "done"),
    ]


def test_a_thousand_calls_at_once_are_all_answered():
    guard = Guard(store=False)

    @guard.tool
    async def double(n: int) -> int:
        """Doubles."""
        await asyncio.sleep(0.01)
        if n % 2:
            raise LookupError(str(n))
        return 2 * n

    async def main():
        return await asyncio.gather(
            *(guard.acall("double", {"n": n}, id=str(n), run=str(n)) for n in range(1000))
        )

    replies = asyncio.run(main())
    assert [(reply.id, reply.is_error) for reply in replies] == [
        (str(n), bool(n % 2)) for n in range(1000)
    ]
    assert guard.counts()["calls"] == 1000


def test_functions_hold_up_no_event_loop():
    guard = Guard(store=False)
    together = threading.Barrier(8)

    @guard.tool
    def meet() -> str:
        """Meets the others."""
        together.wait(10)
        return "met"

    async def main():
        return await asyncio.gather(*(guard.acall("meet", {}) for _ in range(8)))

    assert [reply.text for reply in asyncio.run(main())] == ["met"] * 8


def test_several_event_loops_share_a_guard():
    guard = Guard(store=False)

    @guard.tool
    async def where() -> int:
        """Where."""
        await asyncio.sleep(0.01)
        return threading.get_ident()

    seen = {}

    def run(n):
        async def main():
            replies = await asyncio.gather(*(guard.acall("where", {}) for _ in range(20)))
            return {reply.value for reply in replies}

        seen[n] = (threading.get_ident(), asyncio.run(main()))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert all(calls == {thread} for thread, calls in seen.values())
    # One after the other as well.
    assert asyncio.run(guard.acall("where", {})).value == threading.get_ident()


def test_a_coroutine_is_called_from_within_a_loop_without_waiting_for_it():
    guard = Guard(store=False)

    @guard.tool
    async def one() -> str:
        """One."""
        await asyncio.sleep(0)
        return "1"

    async def main():
        return guard.call("one", {}).text

    assert asyncio.run(main()) == "1"


def test_context_variables_reach_functions(guard):
    import contextvars

    who = contextvars.ContextVar("who")

    @guard.tool
    def ask() -> str:
        """Asks."""
        return who.get()

    @guard.tool
    async def aask() -> str:
        """Asks."""
        return who.get()

    who.set("me")
    assert (guard.call("ask", {}).text, guard.call("aask", {}).text) == ("me", "me")


def run(code: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, **options
    )


def test_ctrl_c_ends_a_call_that_waits():
    code = """
import time
from breakfall import Guard
guard = Guard(store=False)
@guard.tool
def hang() -> str:
    "Hangs."
    print("hangs", flush=True)
    time.sleep(60)
try:
    guard.call("hang", {})
except KeyboardInterrupt:
    print("interrupted", guard.counts()["abandoned"], flush=True)
"""
    # Who runs the tests in the background may have ignored it, and what is ignored is inherited.
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, preexec_fn=heard
    )
    assert child.stdout.readline() == "hangs\n"
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted 1\n"
    assert child.wait(30) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_of_a_fork_has_threads_and_a_clock_of_its_own(records_of_its_own):
    code = """
import asyncio, os, time
from breakfall import Guard
guard = Guard(timeout=0.2)
@guard.tool
def one() -> str:
    "One."
    return str(os.getpid())
@guard.tool
async def hang() -> str:
    "Hangs."
    await asyncio.sleep(30)
@guard.tool
def block() -> str:
    "Blocks."
    time.sleep(1)
def use():
    assert guard.call("one", {}).text == str(os.getpid())
    assert guard.call("hang", {}).kind == "timeout"
    assert guard.call("block", {}).kind == "timeout"
    assert asyncio.run(guard.acall("hang", {})).kind == "timeout"
use()
child = os.fork()
use()
if child:
    _, status = os.waitpid(child, 0)
    print("parent and child", os.waitstatus_to_exitcode(status))
"""
    done = run(code)
    assert (done.stdout, done.returncode) == ("parent and child 0\n", 0), done.stderr


def test_an_interpreter_ends_with_a_function_left_behind():
    code = """
import time
from breakfall import Guard
guard = Guard(store=False, timeout=0.05)
@guard.tool
def hang() -> str:
    "Hangs."
    while True:
        time.sleep(0.01)
print(guard.call("hang", {}).kind)
"""
    done = run(code)
    assert (done.stdout, done.stderr, done.returncode) == ("timeout\n", "", 0)


def test_a_subinterpreter_is_told_clearly():
    code = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
told = interpreters.run_string(other, '''
try:
    import breakfall
except ImportError as error:
    print(error)
''')
"""
    done = run(code)
    assert "breakfall runs in the main interpreter only" in done.stdout, done.stderr


FINALIZER = """
import time
from breakfall import Guard

class Last:
    def __del__(self):
        began = time.monotonic()
        calls = [("sync", {}, "1"), ("later", {}, "2"), ("fails", {}, "3")]
        replies = [guard.call("sync"), guard.call("later"), *guard.batch(calls)]
        print([reply.kind or reply.text for reply in replies], time.monotonic() - began < 5)
        print(any("may have taken effect" in reply.text for reply in replies))

guard = Guard(store=False)
guard.tool(lambda: "there", name="sync")

@guard.tool
async def later() -> str:
    "Later."
    return "there"

@guard.tool
def fails() -> str:
    "Fails."
    raise LookupError("row 7 is not there")

if {is_used}:
    guard.call("sync")
last = Last()
"""


@pytest.mark.parametrize("is_used", [True, False])
def test_a_call_while_the_interpreter_ends_waits_for_nobody(is_used):
    code = FINALIZER.replace("{is_used}", str(is_used))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    kinds = ["there", "internal", "there", "internal", "not_found"]
    assert done.stdout.splitlines() == [f"{kinds} True", "False"], done.stderr
