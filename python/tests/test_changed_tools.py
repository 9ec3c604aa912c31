"""What is done to a tool or to a node's tools after the node was made is done: by tests, or by
whoever gives an agent other tools while it runs."""

from __future__ import annotations

import asyncio
import functools
from typing import Any
from unittest import mock

import pydantic
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import ToolException, tool
from langgraph.prebuilt import ToolNode
from nodes import CONFIG, asks, call, node, run, ways

kinds = pytest.mark.parametrize("kind", [ToolNode, node], ids=["stock", "ours"])


def made(kind: Any, *tools: Any, **options: Any) -> Any:
    return kind(list(tools), **options) if kind is ToolNode else kind(*tools, **options)


async def apasses(request: Any, execute: Any) -> Any:
    return await execute(request)


PASSES: Any = {
    "wrap_tool_call": lambda request, execute: execute(request),
    "awrap_tool_call": apasses,
}


def ship_tool() -> Any:
    @tool
    def ship(to: str) -> str:
        """Ships."""
        return "shipped"

    return ship


def aship_tool() -> Any:
    @tool
    async def ship(to: str) -> str:
        """Ships."""
        return "shipped"

    return ship


SHIP = call("ship", {"to": "Lima"})


@kinds
@ways
def test_a_function_that_a_test_replaces_is_not_run(way, kind):
    ship = ship_tool()
    known = made(kind, ship)
    with mock.patch.object(ship, "func", lambda to: "pretended"):
        assert run(known, SHIP, way=way)[0].content == "pretended"
    assert run(known, SHIP, way=way)[0].content == "shipped"


class Claims:
    """Stands for a function, and says that it is that function, as wrappers do."""

    def __init__(self, function: Any, seen: list[Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.seen = seen

    def __eq__(self, other: Any) -> bool:
        return bool(self.function == other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __call__(self, **given: Any) -> Any:
        self.seen.append(given)
        return self.function(**given)


@kinds
def test_what_stands_for_a_function_and_is_equal_to_it_is_run(kind):
    ship, aship = ship_tool(), aship_tool()
    known, aknown = made(kind, ship), made(kind, aship)
    seen: list[Any] = []
    with mock.patch.object(ship, "func", Claims(ship.func, seen)):
        assert run(known, SHIP)[0].content == "shipped"
    with mock.patch.object(aship, "coroutine", Claims(aship.coroutine, seen)):
        assert run(aknown, SHIP, way="async")[0].content == "shipped"
    assert seen == [{"to": "Lima"}] * 2


@kinds
def test_a_coroutine_that_a_test_replaces_is_not_run(kind):
    async def pretends(to: str) -> str:
        return "pretended"

    ship = aship_tool()
    known = made(kind, ship)
    with mock.patch.object(ship, "coroutine", pretends):
        assert run(known, SHIP, way="async")[0].content == "pretended"
    assert run(known, SHIP, way="async")[0].content == "shipped"


@kinds
@ways
def test_a_function_that_a_test_replaces_is_not_run_behind_an_interceptor(way, kind):
    ship = ship_tool()
    known = made(kind, ship, **PASSES)
    with mock.patch.object(ship, "func", lambda to: "pretended"):
        assert run(known, SHIP, way=way)[0].content == "pretended"


@kinds
def test_a_coroutine_that_is_given_later_is_run_on_the_loop(kind):
    async def later(to: str) -> str:
        return f"shipped by {asyncio.current_task() is not None}"

    ship = ship_tool()
    known = made(kind, ship)
    assert run(known, SHIP, way="async")[0].content == "shipped"
    ship.coroutine = later
    assert run(known, SHIP, way="async")[0].content == "shipped by True"
    assert run(known, SHIP)[0].content == "shipped"


@kinds
@ways
def test_a_handler_that_is_given_later_is_asked(way, kind):
    @tool
    def ship(to: str) -> str:
        """Ships."""
        raise ToolException("no ship")

    known = made(kind, ship)
    ship.handle_tool_error = "handled later"
    assert run(known, SHIP, way=way)[0].content == "handled later"


@kinds
@ways
def test_callbacks_that_are_given_later_hear_of_calls(way, kind):
    heard: list[str] = []

    class Hears(BaseCallbackHandler):
        def on_tool_start(self, *_: Any, **__: Any) -> None:
            heard.append("start")

        def on_tool_end(self, *_: Any, **__: Any) -> None:
            heard.append("end")

    ship = ship_tool()
    known = made(kind, ship)
    ship.callbacks = [Hears()]
    run(known, SHIP, way=way)
    assert heard == ["start", "end"]


class Anywhere(pydantic.BaseModel):
    """Ships."""

    to: str = "anywhere"


@kinds
@ways
def test_a_schema_that_is_given_later_holds(way, kind):
    ship = ship_tool()
    known = made(kind, ship)
    ship.args_schema = Anywhere
    assert run(known, call("ship"), way=way)[0].content == "shipped"


def test_a_schema_that_is_given_later_is_the_guards():
    ship = ship_tool()
    known = node(ship, checking="strict")
    assert run(known, call("ship"))[0].status == "error"
    ship.args_schema = Anywhere
    assert run(known, call("ship"))[0].content == "shipped"
    [told] = known.guard.tools()
    assert "required" not in told["input_schema"]


def test_a_tool_that_nobody_touches_is_looked_at_once():
    ship = ship_tool()
    known = node(ship)
    first = known._known["ship"]
    run(known, SHIP)
    run(known, SHIP, way="async")
    assert (known._known["ship"] is first, first.plain is not None) == (True, True)


def other(name: str = "ship") -> Any:
    @tool(name)
    def ship(where: int) -> str:
        """Ships elsewhere."""
        return f"elsewhere {where + 1}"

    return ship


@kinds
@ways
@pytest.mark.parametrize("place", ["tools_by_name", "_tools_by_name"])
@pytest.mark.parametrize("listens", [False, True])
def test_a_tool_that_comes_later_is_run(way, kind, place, listens):
    known = made(kind, ship_tool())
    getattr(known, place)["extra"] = other("extra")
    config = {**CONFIG, "callbacks": [BaseCallbackHandler()]} if listens else CONFIG
    state = {"messages": [asks(call("extra", {"where": 1}), call("ship", {"to": "x"}, "c2"))]}
    if way == "sync":
        done = known.invoke(state, config)
    else:
        done = asyncio.run(known.ainvoke(state, config))
    assert [m.content for m in done["messages"]] == ["elsewhere 2", "shipped"]


@kinds
@ways
def test_a_tool_that_takes_the_place_of_another_is_run(way, kind):
    known = made(kind, ship_tool())
    with mock.patch.dict(known.tools_by_name, {"ship": other()}):
        assert run(known, call("ship", {"where": 1}), way=way)[0].content == "elsewhere 2"
    assert run(known, SHIP, way=way)[0].content == "shipped"


@ways
def test_a_tool_that_takes_the_place_of_another_is_checked_by_its_own_schema(way):
    known = node(ship_tool())
    known.tools_by_name["ship"] = other()
    [message] = run(known, call("ship", {"where": "there"}), way=way)
    assert "`where`" in message.content and "`to`" not in message.content
    known.tools_by_name["ship"] = other("another")
    assert run(known, call("ship", {"where": 2}), way=way)[0].content == "elsewhere 3"


@ways
def test_a_tool_that_is_taken_out_is_none(way):
    known = node(ship_tool(), other("extra"))
    del known.tools_by_name["extra"]
    [message] = run(known, call("extra", {"where": 1}), way=way)
    assert message.content.startswith("`extra` is not a tool.\nCall one of: `ship`.")


@kinds
@ways
def test_a_tool_that_takes_the_place_of_another_is_run_behind_an_interceptor(way, kind):
    known = made(kind, ship_tool(), **PASSES)
    known.tools_by_name["ship"] = other()
    known.tools_by_name["extra"] = other("extra")
    calls = [call("ship", {"where": 1}, "1"), call("extra", {"where": 2}, "2")]
    assert [m.content for m in run(known, *calls, way=way)] == ["elsewhere 2", "elsewhere 3"]


def test_a_tool_of_the_same_schema_takes_its_place_while_others_call():
    known = node(ship_tool())
    run(known, SHIP)
    known.tools_by_name["ship"] = aship_tool()
    assert run(known, SHIP, way="async")[0].content == "shipped"
    with mock.patch.object(known.guard, "remove", side_effect=AssertionError):
        known.tools_by_name["ship"] = aship_tool()
        assert run(known, SHIP, way="async")[0].content == "shipped"
