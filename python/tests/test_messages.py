"""Messages that are copies of a checked one are what a check would have made."""

from __future__ import annotations

import asyncio
import enum
import gc
import weakref
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools.base import _format_output
from nodes import call, fails, node, run, ways

from breakfall import Guard
from breakfall._message import failed, returned

TEXTS = ["", "a text", "ein Wört 🙂", "cut off \ud800"]


class Name(str):
    pass


class Number(enum.IntEnum):
    one = 1


def all_of(message: Any) -> Any:
    if not isinstance(message, ToolMessage):
        return type(message), message
    return (
        type(message),
        message.__dict__,
        list(message.__dict__),
        message.model_fields_set,
        message.model_extra,
        message.__pydantic_private__,
    )


@pytest.mark.parametrize("id", ["", "c1", Name("c2"), 7, *TEXTS])
@pytest.mark.parametrize("words", TEXTS)
def test_a_failure_is_told_in_the_message_that_a_check_makes(words, id):
    checked = ToolMessage(content=words, name="find", tool_call_id=id, status="error")
    assert all_of(failed(words, "find", id)) == all_of(checked)
    assert failed(words, "find", id).model_dump() == checked.model_dump()


@pytest.mark.parametrize("id", ["c1", Name("c2"), 7, None])
@pytest.mark.parametrize(
    "response",
    [
        *TEXTS,
        *(7, True, 0.5, float("nan"), None, Number.one, Name("x"), 1 << 70),
        *({"a": [1, {"b": None}]}, {1: object}, {}, [], [1], ["a"], ("a", "b"), b"a"),
        *([{"type": "text", "text": "a"}], ToolMessage("a", tool_call_id="c3")),
    ],
    ids=repr,
)
def test_a_result_is_told_in_the_message_that_langchain_makes(response, id):
    for artifact in (None, {"rows": 7}):
        expected = _format_output(response, artifact, id, "find", "success")
        assert all_of(returned(response, artifact, "find", id)) == all_of(expected)


def test_messages_share_nothing():
    one, other = failed("a", "find", "c1"), failed("b", "find", "c2")
    one.additional_kwargs["seen"] = one.response_metadata["seen"] = True
    one.artifact = one.seen = 7
    checked = ToolMessage(content="b", name="find", tool_call_id="c2", status="error")
    assert all_of(other) == all_of(checked)
    assert all_of(failed("b", "find", "c2")) == all_of(checked)


def test_a_message_of_the_node_is_a_whole_one():
    (message,) = run(node(fails), call("fails", id="c7"))
    assert message == ToolMessage(
        content=message.content, name="fails", tool_call_id="c7", status="error"
    )
    assert ToolMessage(**message.model_dump()) == message
    assert message.model_copy(update={"id": "m1"}).id == "m1"


def test_nothing_is_kept_of_a_coroutine_that_failed_too_late():
    guard = Guard(store=False, timeout=0.05)
    seen: list[Any] = []

    class Late(Exception):
        pass

    @guard.tool
    async def late() -> None:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            error = Late("it is too late")
            seen.append(weakref.ref(error))
            raise error from None

    async def main() -> str:
        reply = await guard.acall("late")
        await asyncio.sleep(0.05)
        return str(reply.kind)

    assert asyncio.run(main()) == "timeout"
    gc.collect()
    assert [error() for error in seen] == [None]


@ways
def test_nothing_is_kept_of_a_failure_whose_reply_a_frame_held(way):
    guard = Guard(store=False, timeout=None)
    seen: list[Any] = []

    class Missed(Exception):
        pass

    def misses() -> None:
        seen.append(weakref.ref(error := Missed("there is no row 3")))
        raise error

    async def amisses() -> None:
        misses()

    guard.add("find", "", {"type": "object"}, lambda *_: misses(), lambda *_: amisses())

    def held() -> str:
        reply = guard.call("find")
        return str(reply.kind)

    async def aheld() -> str:
        reply = await guard.acall("find")
        return str(reply.kind)

    assert (held() if way == "sync" else asyncio.run(aheld())) == "not_found"
    gc.collect()
    assert [error() for error in seen] == [None]


@pytest.mark.skipif(not hasattr(asyncio, "eager_task_factory"), reason="since Python 3.12")
def test_a_loop_may_begin_its_tasks_at_once():
    guard = Guard(store=False)

    @guard.tool
    async def find(row: int) -> int:
        if row > 1:
            await asyncio.sleep(0)
        if row == 3:
            raise LookupError("there is no row 3")
        return row

    async def main() -> list[str]:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        calls = [("find", {"row": row}, str(row)) for row in (1, 2, 3)]
        return [str(reply.kind or reply.text) for reply in await guard.abatch(calls)]

    assert asyncio.run(main()) == ["1", "2", "not_found"]
