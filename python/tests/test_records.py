"""What the developer gets: logs with fields, and a store that the program reads."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys

import pytest

from breakfall import Failure, Guard


def add_tools(guard: Guard) -> None:
    @guard.tool
    def one() -> str:
        """One."""
        return "1"

    @guard.tool
    def fails() -> str:
        """Fails."""
        raise LookupError("row 7 is not there")


def test_logs_have_their_fields_as_extra(caplog):
    caplog.set_level(logging.INFO, logger="breakfall")
    guard = Guard(store=False)
    add_tools(guard)
    guard.call("one", {}, id="c1")
    reply = guard.call("fails", {}, id="c2")
    guard.call("nothing", {}, id="c3")
    lines = [(record.levelname, record.getMessage(), record.call_id) for record in caplog.records]
    assert lines == [
        ("INFO", "Executing tool", "c1"),
        ("INFO", "Tool succeeded", "c1"),
        ("INFO", "Executing tool", "c2"),
        ("ERROR", "Tool execution failed", "c2"),
        ("INFO", "Executing tool", "c3"),
        ("WARNING", "Tool not available", "c3"),
    ]
    failed = caplog.records[3]
    assert (failed.name, failed.tool_name, failed.error_type) == (
        "breakfall",
        "fails",
        "LookupError",
    )
    assert (failed.error_message, failed.reference) == ("row 7 is not there", reply.reference)
    assert "in fails" in failed.backtrace


def test_levels_are_python_loggings_own(caplog):
    caplog.set_level(logging.ERROR, logger="breakfall")
    guard = Guard(store=False)
    add_tools(guard)
    guard.call("one", {})
    guard.call("nothing", {})
    assert caplog.records == []
    caplog.set_level(logging.WARNING, logger="breakfall")
    guard.call("nothing", {})
    assert [record.getMessage() for record in caplog.records] == ["Tool not available"]


def test_a_field_of_a_records_own_name_gets_another(caplog):
    guard = Guard(store=False)

    @guard.tool
    def down() -> str:
        """Down."""
        raise Failure("gone", kind="network")

    for n in range(6):
        guard.call("down", {}, run=str(n))
    [opened] = [record for record in caplog.records if record.getMessage() == "Breaker opened"]
    assert (opened.name, opened.name_) == ("breakfall", "down")


def test_a_handler_that_breaks_breaks_no_call():
    class Broken(logging.Handler):
        def emit(self, record):
            raise RuntimeError("no room")

    logger = logging.getLogger("breakfall")
    handler = Broken()
    logger.addHandler(handler)
    try:
        guard = Guard(store=False)
        add_tools(guard)
        assert guard.call("fails", {}, id="1").id == "1"
    finally:
        logger.removeHandler(handler)


def test_nothing_is_printed_where_nobody_listens():
    code = """
from breakfall import Guard
guard = Guard(store=False)
print(guard.call("nothing", {}).kind)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("unknown_tool\n", "")


PROGRAM = """
from breakfall import Guard
guard = Guard({options})
@guard.tool
def fails() -> str:
    "Fails."
    raise LookupError("row 7 is not there")
for n in range(3):
    guard.call("fails", {{}}, id=str(n), run="r")
"""


def groups(place) -> list[tuple]:
    with sqlite3.connect(place) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        assert "groups" in tables, tables
        return database.execute("SELECT tool, kind, count FROM groups").fetchall()


@pytest.mark.parametrize("options", ["", "store='{place}'"])
def test_the_store_is_that_of_the_program(records_of_its_own, options):
    code = PROGRAM.format(options=options.format(place=records_of_its_own))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
    assert groups(records_of_its_own) == [("fails", "not_found", 3)]


@pytest.mark.parametrize("options", ["store=False", ""])
def test_nothing_is_kept_where_that_is_wanted(records_of_its_own, monkeypatch, options):
    if not options:
        monkeypatch.setenv("BREAKFALL_STORE__KEEP", "false")
    code = PROGRAM.format(options=options)
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not records_of_its_own.exists()


def test_a_store_that_is_broken_breaks_no_call(tmp_path, monkeypatch):
    monkeypatch.setenv("BREAKFALL_STORE__PLACE", str(tmp_path / "file" / "in-the-way.db"))
    (tmp_path / "file").write_text("no directory")
    guard = Guard()
    add_tools(guard)
    assert guard.call("one", {}).text == "1"


def test_a_child_of_a_fork_keeps_its_records_as_well(records_of_its_own):
    code = (
        PROGRAM.format(options="")
        + """
import os
child = os.fork()
guard.call("fails", {}, id="x", run=str(child))
if child:
    os.waitpid(child, 0)
"""
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert groups(records_of_its_own) == [("fails", "not_found", 5)]
