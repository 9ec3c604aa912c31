"""A child of a fork works, whatever the threads of its parent did meanwhile."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from breakfall import Guard

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def ends(pid: int) -> bool:
    """Whether a child came to its end; one that hangs is ended."""
    for _ in range(4000):
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        time.sleep(0.005)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return False


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_others_are_within_the_guard_does_not_hang_the_child(caplog):
    # Python's own files hang in a child if another thread writes to them meanwhile.
    caplog.set_level(logging.CRITICAL + 1, logger="breakfall")
    guard = Guard(store=False)
    over = threading.Event()

    @guard.tool
    def boom() -> str:
        """Fails."""
        raise ValueError("x")

    def load() -> None:
        while not over.is_set():
            guard.call("boom")

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            pid = os.fork()
            if pid == 0:
                guard.call("boom")
                os._exit(0)
            assert ends(pid)
    finally:
        over.set()
        for thread in threads:
            thread.join()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_a_guard_is_put_together_does_not_hang_the_child():
    over = threading.Event()
    guards = [Guard(store=False) for _ in range(2)]

    def build() -> None:
        while not over.is_set():
            guards[0] = Guard(store=False)
            guards[0].tools()

    thread = threading.Thread(target=build)
    thread.start()
    try:
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                guards[0].tools()
                os._exit(0)
            assert ends(pid)
    finally:
        over.set()
        thread.join()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("timeout", [30.0, None], ids=["on a thread", "with the caller"])
def test_a_tool_may_fork(timeout):
    guard = Guard(store=False, timeout=timeout)

    @guard.tool
    def forks() -> str:
        """Forks."""
        pid = os.fork()
        if pid == 0:
            os._exit(0 if guard.call("quick").text == "q" else 1)
        return str(os.waitpid(pid, 0)[1])

    @guard.tool
    def quick() -> str:
        """Is quick."""
        return "q"

    assert guard.call("forks").text == "0"


PROCESS = """
import multiprocessing
from breakfall import Guard

guard = Guard()

@guard.tool
def boom() -> str:
    "Fails."
    raise ValueError("x")

def work(name):
    guard.call("boom", {}, id=name)

if __name__ == "__main__":
    guard.call("boom", {}, id="parent")
    process = multiprocessing.get_context("fork").Process(target=work, args=("child",))
    process.start()
    process.join()
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
def test_a_process_of_multiprocessing_keeps_its_records(records_of_its_own, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROCESS)
    subprocess.run([sys.executable, "-W", "ignore", program], check=True, timeout=60)
    with sqlite3.connect(records_of_its_own) as database:
        ids = [id for (id,) in database.execute("SELECT call FROM records ORDER BY call")]
    assert ids == ["child", "parent"]


PROCESSES = """
import multiprocessing
from breakfall import Guard

guard = Guard()

@guard.tool
def boom() -> str:
    "Fails."
    raise ValueError("x")

def work(name):
    guard.call("boom", {}, id=name)

if __name__ == "__main__":
    for number in range(12):
        guard.call("boom", {}, id=f"parent{number:02}")
        process = multiprocessing.get_context("fork").Process(
            target=work, args=(f"child{number:02}",)
        )
        process.start()
        process.join()
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
def test_a_fork_while_records_are_written_loses_none(records_of_its_own, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROCESSES)
    subprocess.run([sys.executable, "-W", "ignore", program], check=True, timeout=60)
    with sqlite3.connect(records_of_its_own) as database:
        ids = {id for (id,) in database.execute("SELECT call FROM records")}
    assert ids == {f"{who}{number:02}" for who in ("parent", "child") for number in range(12)}
