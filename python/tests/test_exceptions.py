"""Exceptions are read, recorded whole, and told without a secret."""

from __future__ import annotations

import errno
import itertools
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from breakfall import Failure, Guard, Output, redact


@pytest.fixture
def guard():
    return Guard(store=False)


class Response:
    def __init__(self, status_code, headers=None, text=None):
        self.status_code = status_code
        self.headers = headers or {}
        self.text = text


class HTTPError(Exception):
    def __init__(self, message, response):
        super().__init__(message)
        self.response = response


def group(*errors):
    """As task groups raise them; Python 3.10 has none."""
    error = type("ExceptionGroup", (Exception,), {})("several (1 sub-exception)")
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


UTC, HOUR = timezone.utc, timedelta(hours=1)
QUOTA = '{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}'


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (HTTPError(f"Error code: 429 - {QUOTA}", Response(429)), "quota_exceeded"),
        (HTTPError("429 Client Error", Response(429, text=QUOTA)), "quota_exceeded"),
        (
            HTTPError("no", Response(403, text='{"message": "API rate limit exceeded"}')),
            "rate_limited",
        ),
        (
            caused(RuntimeError("failed"), HTTPError("no", Response(429, text=QUOTA))),
            "quota_exceeded",
        ),
        (HTTPError("no", Response(403, text='{"message": "Forbidden"}')), "permission"),
        (HTTPError("no", Response(503, text="not found in the cache")), "upstream"),
    ],
)
def test_a_body_is_weighed_against_its_status(guard, error, kind):
    @guard.tool
    def fails() -> str:
        """Fails."""
        raise error

    assert guard.call("fails", {}).kind == kind


@pytest.mark.parametrize("told", ["3600", format_datetime(datetime.now(UTC) + HOUR, usegmt=True)])
def test_how_long_to_wait_is_told_in_seconds_or_by_a_date(guard, told):
    @guard.tool
    def fails() -> str:
        """Fails."""
        raise HTTPError("no", Response(429, {"Retry-After": told}))

    assert "Wait 60 min before calling it again." in guard.call("fails", {}).text


def test_a_body_that_was_not_read_is_left_alone(guard):
    class Unread(Response):
        _content = False
        text = property(lambda self: pytest.fail("it was read"), lambda self, text: None)

    @guard.tool
    def fails() -> str:
        """Fails."""
        raise HTTPError("no", Unread(429))

    assert guard.call("fails", {}).kind == "rate_limited"


@pytest.mark.parametrize("text", [True, False])
def test_what_a_program_wrote_is_read_and_recorded(guard, text):
    said = "cat: notes.md: No such file or directory"
    script = f"import sys; sys.stderr.write({said!r}); sys.exit(1)"

    @guard.tool
    def read() -> str:
        """Reads."""
        command = [sys.executable, "-c", script]
        return subprocess.run(command, check=True, capture_output=True, text=text).stdout

    reply = guard.call("read", {})
    assert (reply.kind, "`notes.md`" in reply.text) == ("not_found", True)
    assert guard.records("read")[0]["failure"]["causes"] == [f"stderr: {said}"]


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


@pytest.mark.parametrize("wrapped", [group, lambda error: group(group(error))])
def test_a_failure_that_is_alone_in_a_group_speaks_for_itself(guard, wrapped):
    @guard.tool
    def fails() -> str:
        """Fails."""
        raise wrapped(Failure("we have tea", kind="not_found", resource="coffee"))

    reply = guard.call("fails", {})
    assert (reply.kind, reply.exception.__class__.__name__) == ("not_found", "ExceptionGroup")
    assert "did not find `coffee`" in reply.text and "> we have tea" in reply.text
    [record] = guard.records()
    assert "ExceptionGroup: several" in record["failure"]["traceback"]


def test_a_group_without_an_end_is_answered(guard):
    @guard.tool
    def fails() -> str:
        """Fails."""
        endless = group()
        endless.exceptions = itertools.repeat(FileNotFoundError("a.txt"))
        raise endless

    assert guard.call("fails", {}).kind == "not_found"


def test_a_told_class_that_is_alone_in_a_group_is_told():
    guard = Guard(store=False, told=[ArithmeticError])

    @guard.tool
    def fails(others: int = 0) -> str:
        """Fails."""
        raise group(ArithmeticError("one is the least"), *[RuntimeError("no")] * others)

    assert "> one is the least" in guard.call("fails", {}).text
    assert "one is the least" not in guard.call("fails", {"others": 1}).text


@pytest.mark.parametrize(
    "error", [ValueError("x"), RuntimeError("x"), LookupError("no such customer")]
)
def test_a_group_is_read_by_the_first_in_it(guard, error):
    @guard.tool
    def bare() -> str:
        """Fails."""
        raise error

    @guard.tool
    def grouped() -> str:
        """Fails."""
        raise group(error, OSError(errno.ENOSPC, "full"))

    assert guard.call("grouped", {}).kind == guard.call("bare", {}).kind


def test_a_group_that_holds_itself_is_answered(guard):
    @guard.tool
    def fails() -> str:
        """Fails."""
        error = group(ValueError("x"))
        error.exceptions = (error, error)
        raise error

    assert guard.call("fails", {}).is_error
