#!/usr/bin/env python3
"""Kills the guard with SIGKILL, again and again: nothing of its tree is left after three seconds.

    e2e/orphans.py [--times N] -- /path/to/breakfall guard --
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import processes
from servers import NODE, TOOLS, repository
from wire import Wire, command_line, went_well

EVERYTHING = f"{NODE}/mcp-server-everything"
STUBBORN = str(Path(__file__).resolve().parent / "stubborn.py")


def ways(repo):
    """What the server is doing when the guard dies: a name, its command, the program to look
    for, a call that works, one left under way, and a signal to the server."""
    echo = ("echo", {"message": "x"})
    slow = ("trigger-long-running-operation", {"duration": 60, "steps": 2})
    return [
        ("idle", [EVERYTHING], EVERYTHING, echo, None, None),
        ("in a call", [EVERYTHING], EVERYTHING, echo, slow, None),
        ("stopped", [EVERYTHING], EVERYTHING, echo, echo, signal.SIGSTOP),
        ("below a shell", ["sh", "-c", '"$0"; true', EVERYTHING], EVERYTHING, echo, slow, None),
        ("git", [f"{TOOLS}/venv/bin/mcp-server-git", "--repository", repo], f"{TOOLS}/venv/bin/mcp-server-git",
         ("git_status", {"repo_path": repo}), None, None),
        ("stubborn", [sys.executable, STUBBORN], STUBBORN, echo, None, None),
    ]


def once(guard, way, seconds):
    """What is wrong after one kill, and how long the tree took to go."""
    _, command, program, works, under_way, number = way
    wire = Wire([*guard, *command])
    try:
        wire.initialize()
        if not went_well(wire.ask(*works)):
            return "the server does not work", 0
        if number:
            os.kill(processes.server(wire.process.pid, program), number)
        if under_way:
            wire.call(*under_way)
            time.sleep(0.1)
        tree = processes.below(wire.process.pid)
        if not any(program in processes.arguments(pid)[:2] for pid, _ in tree):
            return "the server is not below the guard", 0
        wire.process.kill()
        wire.process.wait()
        started = time.monotonic()
        while (left := [p for p in tree if processes.alive(p)]) and time.monotonic() - started < seconds:
            time.sleep(0.01)
        took = time.monotonic() - started
        names = [" ".join(processes.arguments(pid)) for pid, _ in left]
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        return (f"left: {names}" if left else None), took
    finally:
        wire.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=3.0)
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    if not guard:
        parser.error("give the guard's command line after `--`")
    failed, longest = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        repository(Path(folder) / "repo")
        table = ways(str(Path(folder) / "repo"))
        for number in range(options.times):
            way = table[number % len(table)]
            wrong, took = once(guard, way, options.seconds)
            longest = max(longest, took)
            if wrong:
                failed += 1
                print(f"FAIL {number} {way[0]}: {wrong}", flush=True)
    print(f"the longest took {longest:.2f} s")
    print(f"{options.times - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
