"""A coroutine function begins at once, and is none the wiser: it has a task and context variables
of its own, and can be stopped."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from typing import Any

import pytest

from breakfall import Guard

variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")


@pytest.fixture
def guard() -> Guard:
    return Guard(store=False)


def test_what_needs_no_turn_of_the_loop_has_none(guard):
    turns: list[str] = []

    @guard.tool
    async def find(row: int) -> int:
        turns.append("tool")
        raise LookupError("there is no such row")

    async def main() -> None:
        asyncio.get_running_loop().call_soon(turns.append, "loop")
        await guard.acall("find", {"row": 1})
        turns.append("answered")
        await asyncio.sleep(0)

    asyncio.run(main())
    at_once = ["tool", "answered", "loop"]
    assert turns == (at_once if sys.version_info >= (3, 11) else sorted(turns, reverse=True))


def test_a_tool_has_a_task_of_its_own_from_its_first_step_on(guard):
    seen: list[Any] = []

    @guard.tool
    async def look() -> str:
        seen.append(asyncio.current_task())
        await asyncio.sleep(0)
        seen.append(asyncio.current_task())
        await asyncio.get_running_loop().run_in_executor(None, int)
        seen.append(asyncio.current_task())
        return "seen"

    async def main() -> None:
        caller = asyncio.current_task()
        assert (await guard.acall("look")).text == "seen"
        assert asyncio.current_task() is caller
        assert len(set(seen)) == 1 and caller not in seen

    asyncio.run(main())


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize("fails", [False, True], ids=["succeeds", "fails"])
def test_a_task_that_a_tool_looks_at_is_like_any_other(guard, waits, fails):
    seen: list[Any] = []

    @guard.tool
    async def look() -> str:
        task = asyncio.current_task()
        task.set_name("looks")
        assert task in asyncio.all_tasks()
        assert isinstance(task, asyncio.Task) and asyncio.isfuture(task)
        assert "looks" in repr(task) and task.get_loop() is asyncio.get_running_loop()
        task.add_done_callback(lambda task: seen.append(task.get_name()))
        if waits:
            await asyncio.sleep(0)
        if fails:
            raise LookupError("there is no such row")
        return "seen"

    async def main() -> None:
        reply = await guard.acall("look")
        assert reply.is_error is fails
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert seen == ["looks"]


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "later"])
def test_a_task_that_a_tool_leaves_can_be_asked_what_became_of_it(guard, waits, caplog):
    left: list[Any] = []

    @guard.tool
    async def leaves() -> str:
        left.append(asyncio.current_task())
        if waits:
            await asyncio.sleep(0)
        return "left"

    async def main() -> None:
        assert (await guard.acall("leaves")).text == "left"
        [task] = left
        await asyncio.wait_for(task, 1)
        assert task.done() and not task.cancelled() and task.exception() is None

    asyncio.run(main())
    left.clear()
    assert [record for record in caplog.records if record.name == "asyncio"] == []


def test_context_variables_of_a_tool_are_its_own(guard):
    seen: list[str] = []

    @guard.tool
    async def look() -> str:
        seen.append(variable.get())
        variable.set("of the tool")
        await asyncio.sleep(0)
        seen.append(variable.get())
        return "seen"

    async def main() -> str:
        variable.set("of the caller")
        await guard.abatch([("look", {}, "1"), ("look", {}, "2")])
        return variable.get()

    assert asyncio.run(main()) == "of the caller"
    assert sorted(seen) == ["of the caller"] * 2 + ["of the tool"] * 2


@pytest.mark.skipif(not hasattr(asyncio, "timeout"), reason="since Python 3.11")
def test_a_timeout_within_a_tool_is_the_tools(guard):
    @guard.tool
    async def waits() -> str:
        try:
            async with asyncio.timeout(0.02):
                await asyncio.sleep(5)
        except TimeoutError:
            return "had enough"
        return "slept"

    assert asyncio.run(guard.acall("waits")).text == "had enough"


@pytest.mark.skipif(not hasattr(asyncio, "TaskGroup"), reason="since Python 3.11")
def test_a_group_of_tasks_within_a_tool_works(guard):
    async def fails() -> None:
        raise LookupError("row 7 is not there")

    @guard.tool
    async def gathers() -> str:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            group.create_task(asyncio.sleep(5))
        return "gathered"

    assert asyncio.run(guard.acall("gathers")).is_error
    [record] = guard.records()
    assert (record["error_type"], record["failure"]["message"]) == (
        "LookupError",
        "row 7 is not there",
    )
    assert "ExceptionGroup: " in record["failure"]["traceback"]


def test_a_tool_that_waits_is_stopped_with_its_caller_in_the_same_turn(guard):
    seen: list[str] = []

    @guard.tool
    async def waits() -> None:
        inner = asyncio.ensure_future(asyncio.sleep(5))
        try:
            await inner
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            seen.append(f"stopped, inner too: {inner.cancelled()}")
            raise

    async def main() -> None:
        task = asyncio.ensure_future(guard.acall("waits"))
        # One turn: the tool has begun, and its own task has had no turn yet.
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert seen == ["stopped, inner too: True"]
    assert guard.counts()["abandoned"] == 1


def test_a_tool_past_its_time_is_stopped():
    guard = Guard(store=False, timeout=0.05)
    seen: list[str] = []

    @guard.tool
    async def waits() -> None:
        try:
            await asyncio.sleep(5)
        finally:
            seen.append("stopped")

    assert asyncio.run(guard.acall("waits")).kind == "timeout"
    assert seen == ["stopped"]


@pytest.mark.parametrize("when", ["at once", "later"])
def test_a_loop_that_ends_is_told_of_no_task_left(guard, caplog, when):
    @guard.tool
    async def find() -> None:
        if when == "later":
            await asyncio.sleep(0)
        raise LookupError("row 7 is not there")

    loop = asyncio.new_event_loop()
    reply = loop.run_until_complete(guard.acall("find"))
    left = asyncio.all_tasks(loop)
    loop.close()
    assert (reply.kind, left) == ("not_found", set())
    assert [record for record in caplog.records if record.name == "asyncio"] == []


def test_a_loop_that_is_left_is_told_of_no_tool_that_had_ended(guard, caplog):
    @guard.tool
    async def leaves() -> None:
        raise SystemExit(7)

    async def main() -> None:
        await guard.abatch([("leaves", {}, "1"), ("leaves", {}, "2")])

    with pytest.raises(SystemExit):
        asyncio.run(main())
    assert [record for record in caplog.records if record.name == "asyncio"] == []


def test_the_first_turn_that_a_tool_leaves_to_others_is_theirs(guard):
    @guard.tool
    async def leaves() -> str:
        turns: list[str] = []

        async def child() -> None:
            turns.append("child")

        kept = asyncio.ensure_future(child())
        asyncio.get_running_loop().call_soon(turns.append, "soon")
        await asyncio.sleep(0)
        assert kept.done()
        return " ".join(turns)

    assert asyncio.run(guard.acall("leaves")).text == "child soon"


@pytest.mark.skipif(not hasattr(asyncio, "timeout"), reason="since Python 3.11")
def test_no_time_at_all_is_up_at_the_first_turn(guard):
    @guard.tool
    async def expires() -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(0)
        except TimeoutError:
            return "had enough"
        return "slept"

    assert asyncio.run(guard.acall("expires")).text == "had enough"
