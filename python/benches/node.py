"""What a tool call costs in our node, beside LangGraph's own, in one process.

Prints ratios: ours to stock, below one is cheaper. Each pair is measured in turns, so that a busy
machine slows both. Every call has arguments and a run of its own: a call that failed before would
be refused, which is cheaper still.

    python benches/node.py [--rounds N] [--store]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import statistics
import time

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from breakfall.langgraph import ErrorHandlingToolNode


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@tool
async def aadd(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@tool
def find(a: int, b: int) -> int:
    """Fails."""
    raise LookupError(f"there is no row {a} in the table")


@tool
async def afind(a: int, b: int) -> int:
    """Fails."""
    raise LookupError(f"there is no row {a} in the table")


numbers = itertools.count()
config = {"configurable": {"__pregel_runtime": Runtime()}}


def state(name: str, calls: int) -> dict:
    return {
        "messages": [
            HumanMessage("go", id=str(next(numbers))),
            AIMessage(
                "",
                tool_calls=[
                    {"name": name, "args": {"a": next(numbers), "b": 2}, "id": str(at)}
                    for at in range(calls)
                ],
            ),
        ]
    }


def timed(work, argument) -> float:
    began = time.perf_counter()
    work(argument)
    return time.perf_counter() - began


def measure(name: str, calls: int, stock, ours, rounds: int) -> tuple[float, float, float]:
    times: tuple[list[float], list[float]] = ([], [])
    for at in range(rounds + 20):
        pair = [(0, stock), (1, ours)]
        for which, work in pair if at % 2 else reversed(pair):
            took = timed(work, state(name, calls))
            if at >= 20:
                times[which].append(took)
    before, after = (statistics.median(side) for side in times)
    return before, after, after / before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--store", action="store_true", help="keep records, too")
    options = parser.parse_args()
    tools = [add, aadd, find, afind]
    stock = ToolNode(tools, handle_tool_errors=True)
    ours = ErrorHandlingToolNode(tools, store=options.store)
    loop = asyncio.new_event_loop()

    def awaited(node):
        return lambda state: loop.run_until_complete(node.ainvoke(state, config))

    def called(node):
        return lambda state: node.invoke(state, config)

    gc.disable()
    print("| call | stock µs | ours µs | ours / stock |")
    print("|---|---:|---:|---:|")
    for what, name, way in (
        ("success", "add", called),
        ("failure", "find", called),
        ("async success", "aadd", awaited),
        ("async failure", "afind", awaited),
    ):
        for calls in (1, 10):
            before, after, ratio = measure(name, calls, way(stock), way(ours), options.rounds)
            label = f"{what}, {'single' if calls == 1 else 'batch of 10'}"
            print(f"| {label} | {before * 1e6:.0f} | {after * 1e6:.0f} | {ratio:.2f} |")
            gc.collect()


if __name__ == "__main__":
    main()
