"""The guard: every call is answered, exactly once, under its id."""

from __future__ import annotations

import asyncio
import datetime
import enum
import errno
import functools
import threading
import time
from typing import Annotated

import pydantic
import pytest

from breakfall import Failure, Guard, Output, redact


@pytest.fixture
def guard():
    return Guard(store=False)


def add_tool(guard, function, **options):
    return guard.tool(**options)(function) if options else guard.tool(function)


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

    reply = guard.call(
        "order", {"order": {"item": "tea"}, "on": "2026-01-31", "color": "red"}
    )
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


def test_a_function_with_positional_arguments_only_is_refused(guard):
    def f(a, /):
        return a

    with pytest.raises(TypeError, match="cannot be given by its name"):
        guard.tool(f)


class Response:
    def __init__(self, status_code, headers=None):
        self.status_code = status_code
        self.headers = headers or {}


class HTTPError(Exception):
    def __init__(self, message, response):
        super().__init__(message)
        self.response = response


def group(*errors):
    """As task groups raise them; Python 3.10 has none."""
    error = type("ExceptionGroup", (Exception,), {})("unhandled errors in a TaskGroup")
    error.exceptions = errors
    return error


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.txt"), "not_found"),
        (OSError(errno.ENOSPC, "it is full"), "system"),
        (OSError(errno.EACCES, "no"), "permission"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "network"),
        (TimeoutError("too long"), "timeout"),
        (PermissionError("no"), "permission"),
        (KeyError("x"), "internal"),
        (HTTPError("went wrong", Response(404)), "not_found"),
        (HTTPError("went wrong", Response(503)), "upstream"),
        (HTTPError("went wrong", Response(429)), "rate_limited"),
        (caused(RuntimeError("lookup failed"), HTTPError("no", Response(401))), "authentication"),
        (caused(RuntimeError("could not save"), OSError(errno.ENOSPC, "full")), "system"),
        (caused(Exception("failed"), caused(Exception("x"), ConnectionError("y"))), "network"),
        (group(PermissionError(errno.EACCES, "no")), "permission"),
    ],
)
def test_reads_type_number_status_and_causes(guard, error, kind):
    @guard.tool
    def fails() -> str:
        """Fails."""
        raise error

    reply = guard.call("fails", {})
    assert reply.kind == kind, reply.failure()


def test_a_certificates_number_is_not_the_systems(guard):
    import ssl

    @guard.tool
    def fails() -> str:
        """Fails."""
        raise ssl.SSLError(1, "certificate verify failed")

    assert guard.call("fails", {}).kind != "permission"


def test_a_ring_of_causes_has_an_end(guard):
    @guard.tool
    def fails() -> str:
        """Fails."""
        first, second = ValueError("a"), ValueError("b")
        first.__cause__, second.__cause__ = second, first
        raise first

    assert guard.call("fails", {}).is_error


def test_an_exception_that_cannot_be_written_is_answered(guard):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    @guard.tool
    def fails() -> str:
        """Fails."""
        raise Mute

    reply = guard.call("fails", {}, id="1")
    assert (reply.id, reply.is_error) == ("1", True)


def test_keeps_traceback_and_causes_in_the_record(guard):
    def inner():
        raise KeyError("row")

    @guard.tool
    def outer() -> str:
        """Fails."""
        try:
            inner()
        except KeyError as error:
            raise RuntimeError("could not load") from error

    guard.call("outer", {}, id="1", run="r")
    [record] = guard.records("outer")
    failure = record["failure"]
    assert (record["id"], record["run"], record["ending"]) == ("1", "r", "failed")
    assert (failure["error_type"], failure["message"]) == ("RuntimeError", "could not load")
    assert failure["causes"] == ["KeyError: 'row'"]
    traceback = failure["traceback"]
    assert "in inner" in traceback and "in outer" in traceback
    assert "_work.py" not in traceback
    assert traceback.index("KeyError: 'row'") < traceback.index("RuntimeError: could not load")


def test_the_model_sees_no_word_of_an_exception_but_its_facts(guard):
    @guard.tool
    def fails() -> str:
        """Fails."""
        raise RuntimeError("at /srv/app/db.py: cursor 0x7f is gone")

    assert "srv" not in guard.call("fails", {}).text


def test_no_secret_gets_out(guard):
    secret = "ghp_" + "R7kQz2VmT9xYb4LcW8nJp3HsD6fGa1EuK5iO"
    password = "hunter2" + "-of-the-week"
    guard = Guard(store=False, redact=[password], keep_arguments=True)

    @guard.tool
    def fails(token: str) -> str:
        """Fails."""
        raise Failure(f"login with {token} and {password} failed")

    reply = guard.call("fails", {"token": secret})
    everything = reply.text + str(guard.records())
    assert secret not in everything and password not in everything
    assert secret not in redact(f"token {secret}")


def test_a_failure_on_purpose_speaks_to_the_model(guard):
    @guard.tool
    def start() -> str:
        """Starts."""
        raise Failure("open the valve first", kind="precondition")

    reply = guard.call("start", {})
    assert reply.kind == "precondition"
    assert "> open the valve first" in reply.text


def test_partial_success_tells_both(guard):
    @guard.tool
    def read_all(paths: list[str]) -> Output:
        """Reads files."""
        return Output("a.txt: 12 bytes", problems={"b.txt": FileNotFoundError("b.txt")}, of=2)

    reply = guard.call("read_all", {"paths": ["a.txt", "b.txt"]})
    assert (reply.is_error, reply.success) == (False, False)
    assert reply.output == "a.txt: 12 bytes"
    assert "b.txt" in reply.error


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
