"""A function's hints are its schema: what fits arrives as it expects, what does not is told."""

from __future__ import annotations

import collections
import datetime
import enum
import functools
import math
import types
from typing import Annotated, Any

import pydantic
import pytest

from breakfall import Guard


@pytest.fixture
def guard():
    return Guard(store=False)


def test_tells_every_problem_with_arguments_at_once(guard):
    @guard.tool
    def book(city: str, nights: int) -> str:
        """Books."""
        raise AssertionError("not called")

    reply = guard.call("book", {"citty": "Rome", "nights": "many"})
    assert reply.kind == "invalid_arguments"
    assert "`citty`" in reply.text and "`city`" in reply.text and "`nights`" in reply.text


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ('{"a": 1', "truncated_arguments"),
        ("not json", "invalid_arguments"),
        ("[1]", "invalid_arguments"),
        (7, "invalid_arguments"),
    ],
)
def test_answers_malformed_arguments(guard, arguments, kind):
    @guard.tool
    def one(a: int) -> int:
        """One."""
        return a

    reply = guard.call("one", arguments, id="x")
    assert (reply.id, reply.kind) == ("x", kind)


def test_takes_the_providers_text(guard):
    @guard.tool
    def one(a: int) -> int:
        """One."""
        return a

    assert guard.call("one", '{"a": 5}').value == 5
    assert guard.call("one", {"a": 5}).value == 5


def test_takes_a_mapping_that_is_no_dictionary(guard):
    @guard.tool
    def one(a: int) -> int:
        """One."""
        return a

    for given in ({"a": 5}, collections.UserDict(a=5), types.MappingProxyType({"a": 5})):
        assert guard.call("one", given).value == 5
        assert guard.batch([{"name": "one", "args": given}])[0].value == 5


def nested(depth):
    value: object = 1
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("depth", [200, 100_000])
def test_deep_values_are_refused_and_written_without_harm(guard, depth):
    @guard.tool
    def any_of(a: object) -> object:
        """Any."""
        return nested(depth)

    assert guard.call("any_of", nested(depth), id="x").kind == "invalid_arguments"
    assert "nested more than" in guard.call("any_of", {"a": 1}).text


class Unwritable:
    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __str__


def test_what_cannot_be_written_is_answered(guard):
    @guard.tool
    def give(a: object = None) -> object:
        """Gives."""
        return Unwritable()

    assert guard.call("give", {"a": Unwritable()}, id="1").is_error
    assert guard.call("give", {}, id="2").kind == "internal"
    assert guard.call(Unwritable(), {}, id=Unwritable()).kind == "unknown_tool"
    assert guard.call("give", {"a": {1: 2}}, id="3").id == "3"


def test_large_numbers_pass_as_they_are(guard):
    @guard.tool
    def same(a: int) -> str:
        """Same."""
        return str(a)

    assert guard.call("same", {"a": 10**30}).text == str(10**30)


class Color(enum.Enum):
    RED = "red"


class Order(pydantic.BaseModel):
    item: str
    count: int = 1


def test_hands_over_models_dates_and_enumerations(guard):
    @guard.tool
    def order(order: Order, on: datetime.date, color: Color, note: str | None = None) -> str:
        """Orders."""
        return f"{order!r} {on!r} {color!r} {note!r}"

    reply = guard.call("order", {"order": {"item": "tea"}, "on": "2026-01-31", "color": "red"})
    assert reply.text == (
        "Order(item='tea', count=1) datetime.date(2026, 1, 31) <Color.RED: 'red'> None"
    )
    [spec] = guard.tools()
    assert spec["description"] == "Orders."
    assert spec["input_schema"]["required"] == ["order", "on", "color"]


def test_what_only_pydantic_refuses_is_told_as_a_problem(guard):
    @guard.tool
    def when(day: datetime.date) -> str:
        """When."""
        return str(day)

    reply = guard.call("when", {"day": "2026-02-30"})
    assert reply.kind == "invalid_arguments"
    assert "`day`" in reply.text


def test_takes_more_arguments_where_the_function_does(guard):
    @guard.tool
    def any_of(first: int, **more: int) -> str:
        """Any."""
        return f"{first} {more}"

    assert guard.call("any_of", {"first": 1, "second": 2}).text == "1 {'second': 2}"


def test_methods_partial_applications_and_objects_are_functions(guard):
    class Shop:
        def price(self, item: str, count: Annotated[int, pydantic.Field(gt=0)] = 1) -> str:
            """Tells the price."""
            return f"{count} {item}"

        async def __call__(self, item: str) -> str:
            return f"called {item}"

    guard.tool(Shop().price)
    guard.tool(name="tea")(functools.partial(Shop().price, "tea"))
    guard.tool(name="shop")(Shop())
    assert guard.call("price", {"item": "tea", "count": 2}).text == "2 tea"
    assert guard.call("price", {"item": "tea", "count": 0}).kind == "invalid_arguments"
    assert guard.call("tea", {}).text == "1 tea"
    assert guard.call("shop", {"item": "tea"}).text == "called tea"
    with pytest.raises(TypeError, match="has no name"):
        guard.tool(Shop())


def test_a_function_with_positional_arguments_only_is_refused(guard):
    def f(a, /):
        return a

    with pytest.raises(TypeError, match="cannot be given by its name"):
        guard.tool(f)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (None, "done"),
        ({"a": [1, 2.5, None, True]}, '{"a":[1,2.5,null,true]}'),
        (Order(item="tea"), '{"item":"tea","count":1}'),
        ({"on": datetime.date(2026, 1, 31)}, '{"on": "2026-01-31"}'),
        ({1, 2}, "[1,2]"),
    ],
)
def test_writes_what_functions_return(guard, value, text):
    @guard.tool
    def give() -> object:
        """Gives."""
        return value

    reply = guard.call("give", {})
    assert (reply.text, reply.value) == (text, value)


BIG = 123456789012345678901234567890


@pytest.mark.parametrize(
    "arguments",
    [
        {"wei": BIG, "fast": True},
        {"wei": BIG, "fast": "true"},
        f'{{"wei": {BIG}, "fast": true}}',
        f'{{"wei": {BIG}, "fast": "true"}}',
    ],
)
def test_whole_numbers_of_any_size_arrive_exactly(arguments):
    guard = Guard(store=False, checking="diagnose")

    @guard.tool
    def pay(wei: int, fast: bool) -> str:
        """Pays."""
        return f"{wei} {fast}"

    assert guard.call("pay", arguments).text == f"{BIG} True"


@pytest.mark.parametrize("checking", ["strict", "diagnose"])
@pytest.mark.parametrize("digits", [308, 309, 620, 4000])
def test_whole_numbers_have_no_largest(digits, checking):
    guard = Guard(store=False, checking=checking)

    @guard.tool
    def bits(n: int, exact: bool = True) -> str:
        """Counts."""
        return f"{n.bit_length()} {n % 1000} {exact}"

    for sign in (1, -1):
        n = sign * (10**digits - 1)
        told = f"{n.bit_length()} {n % 1000} True"
        assert guard.call("bits", {"n": n}).text == told
        assert guard.call("bits", f'{{"n": {n}}}').text == told
        if checking == "diagnose":
            assert guard.call("bits", {"n": n, "exact": "true"}).text == told


def test_what_was_not_mended_arrives_as_it_came():
    guard = Guard(store=False, checking="diagnose")
    got: dict[str, Any] = {}

    schema = {"type": "object", "properties": {"fast": {"type": "boolean"}}}
    guard.tool(lambda **given: got.update(given), name="take", schema=schema)
    given = {"pair": (1, {"a": BIG}), "fast": "true", "not": math.nan, "list": [math.inf]}
    assert not guard.call("take", given).is_error
    assert math.isnan(got.pop("not"))
    assert got == {"pair": (1, {"a": BIG}), "fast": True, "list": [math.inf]}
    assert list(got) == ["pair", "fast", "list"]


def test_another_attempt_gets_the_same_arguments():
    guard = Guard(store=False, timeout=None)
    got = []

    @guard.tool(effect="read_only", attempts=2)
    def take(items: list, n: int) -> str:
        """Takes."""
        got.append((list(items), n))
        items.clear()
        raise ConnectionError("away")

    guard.call("take", {"items": [1, BIG], "n": BIG})
    # What the first took out is written as JSON has it; the rest is as it came.
    assert got == [([1, BIG], BIG), ([1, float(BIG)], BIG)]


def test_a_number_arrives_as_the_kind_that_the_hint_says(guard):
    @guard.tool
    def scale(by: float, times: int = 1) -> str:
        """Scales."""
        return f"{by!r} {times!r}"

    assert guard.call("scale", {"by": 3}).text == "3.0 1"
    assert guard.call("scale", '{"by": 3, "times": 2.0}').text == "3.0 2"


def test_a_number_that_cannot_be_passed_on_exactly_is_refused(guard):
    @guard.tool
    def pay(wei: int) -> str:
        """Pays."""
        raise AssertionError("not called")

    reply = guard.call("pay", {"wei": 1e29})
    assert reply.kind == "invalid_arguments"
    assert "`wei`: the number is too large to be passed on exactly" in reply.text


def octal(mode: Annotated[int, pydantic.BeforeValidator(lambda text: int(text, 8))]) -> str:
    """Changes a mode."""
    return oct(mode)


def test_what_a_validator_reads_itself_is_handed_over_as_it_was_given(guard):
    guard.tool(octal)
    assert guard.call("octal", {"mode": "755"}).text == "0o755"
    assert guard.call("octal", '{"mode": "755"}').text == "0o755"


def test_strict_checking_still_changes_no_type(guard):
    @guard.tool
    def book(nights: Annotated[int, pydantic.Field(gt=0)], day: datetime.date) -> str:
        """Books."""
        raise AssertionError("not called")

    reply = guard.call("book", {"nights": "3", "day": "2026-01-31"})
    assert reply.kind == "invalid_arguments" and "`nights`" in reply.text


class Stay(pydantic.BaseModel):
    until: datetime.time | None = None


def test_times_that_the_hint_accepts_need_no_zone(guard):
    @guard.tool
    def at(x: pydantic.NaiveDatetime, alarm: datetime.time, stay: Stay | None = None) -> str:
        """Tells when."""
        return f"{x!r} {alarm!r} {stay!r}"

    given = {"x": "2026-01-31T10:00:00", "alarm": "10:00:00"}
    told = "datetime.datetime(2026, 1, 31, 10, 0) datetime.time(10, 0)"
    assert guard.call("at", given).text == f"{told} None"
    reply = guard.call("at", {**given, "stay": {"until": "11:00"}})
    assert reply.text == f"{told} Stay(until=datetime.time(11, 0))"
    # What neither accepts is told as the schema has it.
    reply = guard.call("at", {**given, "alarm": "at ten"})
    assert reply.kind == "invalid_arguments" and "`alarm`" in reply.text
