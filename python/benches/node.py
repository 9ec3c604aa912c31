"""What a tool call costs in our node, beside LangGraph's own and what else people use, in one
process.

Prints ratios: how many times ours each way costs; above one ours is cheaper. The ways are measured
in turns of ten rounds, so that a busy machine slows them all, and of each the median counts. No
database is written.

    python benches/node.py [--turns N] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from ways import DictAndTry, FastMcp, Node, PydanticAi, Way, langgraph, ours

#: Rounds of a turn that are counted: a way is as warm then as where it is used alone. The first of
#: a turn is slowed by what others left in the caches, and stands beside in the JSON.
ROUNDS = 10

#: How many seconds make a turn long enough.
LONG = 0.1

#: The most seconds that a way may take of a row, once it had some turns.
MOST = 4.0
FEWEST = 7

#: What goes before a row's figures.
ROWS = [
    ("success, single", "add", 1, False),
    ("success, batch of 10", "add", 10, False),
    ("failure, single", "find", 1, False),
    ("failure, batch of 10", "find", 10, False),
    ("async success, single", "aadd", 1, True),
    ("async success, batch of 10", "aadd", 10, True),
    ("async failure, single", "afind", 1, True),
    ("async failure, batch of 10", "afind", 10, True),
]

PACKAGES = ["breakfall", "langgraph", "langchain-core", "pydantic-ai-slim", "fastmcp", "pydantic"]

AT_ONCE = [1, 10, 100, 1000]


class Turns:
    """The times of the ways in a row: of each round, and of the first of each turn."""

    def __init__(self, ways: list[Way], turns: int) -> None:
        self.ways = ways
        self.turns = turns
        self.times: list[list[float]] = [[] for _ in ways]
        self.first: list[list[float]] = [[] for _ in ways]
        self.spent = [0.0 for _ in ways]

    def next(self) -> list[int]:
        """Who has a turn now, in changing order; nobody when all had enough."""
        turn = [at for at in range(len(self.ways)) if not self._has_enough(at)]
        return turn if len(self.first[0]) % 2 else turn[::-1]

    def _has_enough(self, at: int) -> bool:
        turns = len(self.first[at])
        return turns >= self.turns or (turns >= FEWEST and self.spent[at] > MOST)

    def add(self, at: int, marks: list[float], left: float = 0.0) -> None:
        """Takes a turn: when its rounds began and ended, and how long it took the loop to do what
        they left. The first is not counted."""
        rounds = [end - begin for begin, end in zip(marks, marks[1:], strict=False)]
        self.first[at].append(rounds[0])
        self.times[at] += [took + left / len(rounds) for took in rounds[1:]]
        self.spent[at] += sum(rounds)


async def in_turns(ways: list[Way], tool: str, calls: int, turns: int) -> Turns:
    """The ways in turns, awaited on the running loop. What a way leaves for the loop to do counts
    as well."""
    row = Turns(ways, turns)
    while turn := row.next():
        for at in turn:
            way = ways[at]
            given = [way.given(tool, calls) for _ in range(ROUNDS + 1)]
            marks = [time.perf_counter()]
            for one in given:
                await way.arun(one)
                marks.append(time.perf_counter())
                if len(marks) > 2 and marks[-1] - marks[0] > LONG:
                    break
            await asyncio.sleep(0)
            row.add(at, marks, time.perf_counter() - marks[-1])
    return row


def in_turns_on_this_thread(
    ways: list[Way], tool: str, calls: int, turns: int, loop: asyncio.AbstractEventLoop
) -> Turns:
    """The ways in turns, for a caller that waits."""
    row = Turns(ways, turns)
    while turn := row.next():
        for at in turn:
            way = ways[at]
            given = [way.given(tool, calls) for _ in range(ROUNDS + 1)]
            marks = [time.perf_counter()]
            for one in given:
                way.run(one, loop)
                marks.append(time.perf_counter())
                if len(marks) > 2 and marks[-1] - marks[0] > LONG:
                    break
            row.add(at, marks)
    return row


def check(ways: list[Way], loop: asyncio.AbstractEventLoop) -> None:
    """A way that does not do its work is not measured."""
    for row, tool, calls, is_async in ROWS:
        for way in ways:
            given = way.given(tool, calls)
            answer = loop.run_until_complete(way.arun(given)) if is_async else way.run(given, loop)
            if way.failures(answer) != ["find" in tool] * calls:
                raise SystemExit(f"{way.name} does not answer “{row}” as it should: {answer}")


def figures(row: str, turns: Turns, calls: int = 1) -> list[dict[str, Any]]:
    """The figures of a row; ours is the first way."""
    medians = [statistics.median(times) for times in turns.times]
    return [
        {
            "row": row,
            "way": way.name,
            "ratio_to_ours": round(medians[at] / medians[0], 3),
            "microseconds": round(medians[at] / calls * 1e6, 2),
            "first_microseconds": round(statistics.median(turns.first[at]) / calls * 1e6, 2),
            "rounds": len(turns.times[at]),
        }
        for at, way in enumerate(turns.ways)
    ]


async def at_once(ways: list[Way], turns: int) -> list[dict[str, Any]]:
    """Many agents, each with a call that waits for a turn of the loop."""
    found = []
    for agents in AT_ONCE:
        many = [_Many(way, agents) for way in ways]
        row = await in_turns(many, "later", 1, turns)
        for figure in figures(f"async success, {agents:,} at once", row, agents):
            found.append({**figure, "at_once": agents})
    return found


class _Many(Way):
    """A way, used by many at once."""

    def __init__(self, way: Way, agents: int) -> None:
        self.name = way.name
        self.way = way
        self.agents = agents

    def given(self, tool: str, calls: int) -> Any:
        return [self.way.given(tool, calls) for _ in range(self.agents)]

    async def arun(self, given: Any) -> Any:
        return await asyncio.gather(*map(self.way.arun, given))


def left_by(make: Callable[[], Way], errors: int) -> dict[str, Any]:
    """How many bytes an error leaves for ever, after as many before it: of the process, and of
    Python's memory."""
    way, loop = make(), asyncio.new_event_loop()

    def fail() -> None:
        for _ in range(errors):
            way.run(way.given("find", 1), loop)
        gc.collect()

    fail()
    before = _resident()
    fail()
    resident = _resident() - before
    tracemalloc.start()
    fail()
    traced = tracemalloc.get_traced_memory()[0]
    return {
        "way": way.name,
        "errors": errors,
        "python_bytes": round(traced / errors, 1),
        "resident_bytes": round(resident / errors, 1),
    }


def _resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def memory(errors: int = 20_000) -> list[dict[str, Any]]:
    """What errors leave, each way in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        return [processes.apply(left_by, (make, errors)) for make in (ours, DictAndTry)]


@contextlib.contextmanager
def without_stderr():
    """What a way writes of its failures goes nowhere: a terminal would cost more still."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def measured(turns: int) -> dict[str, Any]:
    ways: list[Way] = [
        ours(),
        langgraph(),
        PydanticAi(),
        FastMcp("fastmcp", logs=True),
        FastMcp("fastmcp, no log", logs=False),
        DictAndTry(),
    ]
    loop = asyncio.new_event_loop()
    opened = contextlib.AsyncExitStack()
    for way in ways:
        loop.run_until_complete(opened.enter_async_context(way.open()))
    check(ways, loop)
    rows: list[dict[str, Any]] = []
    gc.disable()
    for row, tool, calls, is_async in ROWS:
        if is_async:
            times = loop.run_until_complete(in_turns(ways, tool, calls, turns))
        else:
            times = in_turns_on_this_thread(ways, tool, calls, turns, loop)
        rows += figures(row, times)
        gc.collect()
    nodes = [way for way in ways if isinstance(way, Node)]
    rows += loop.run_until_complete(at_once(nodes, turns))
    gc.enable()
    loop.run_until_complete(opened.aclose())
    return {
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
        "rows": rows,
        "memory": memory(),
    }


def table(found: dict[str, Any]) -> str:
    """The figures as Markdown: ratios first."""
    ways = list(dict.fromkeys(figure["way"] for figure in found["rows"]))
    lines = [
        "| call | " + " | ".join(f"{way} ÷ ours" for way in ways[1:]) + " | ours |",
        "|---|" + "---:|" * len(ways),
    ]
    for row in dict.fromkeys(figure["row"] for figure in found["rows"]):
        of = {figure["way"]: figure for figure in found["rows"] if figure["row"] == row}
        ratios = (f"{of[way]['ratio_to_ours']:.2f}" if way in of else "" for way in ways[1:])
        lines.append(f"| {row} | {' | '.join(ratios)} | {of[ways[0]]['microseconds']:.0f} µs |")
    lines += ["", "| an error leaves | of Python's memory | of the process's |", "|---|---:|---:|"]
    for left in found["memory"]:
        lines.append(
            f"| {left['way']} | {left['python_bytes']:.0f} bytes "
            f"| {left['resident_bytes']:.0f} bytes |"
        )
    used = ", ".join(f"{package} {number}" for package, number in found["versions"].items())
    return "\n".join([*lines, "", f"Python {found['python']}; {used}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30, help="how many each way has in a row")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    with without_stderr():
        found = measured(options.turns)
    print(table(found))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
