"""Calls that were made together reach their interrupts in their order.

LangGraph numbers the interrupts of a task as they are reached, and hands a person's answers out by
these numbers. Calls run side by side: without an order, an answer could go to another call than the
one that was asked about.
"""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from enum import Enum, auto
from typing import Any

try:
    from langgraph._internal._constants import CONFIG_KEY_SCRATCHPAD
    from langgraph._internal._scratchpad import PregelScratchpad
except ImportError:  # another release: its order is whatever comes of running side by side
    PregelScratchpad = None  # type: ignore[assignment,misc]

#: Seconds in which a call begins that is to be run at all. One that was refused never does.
_BEGINS = 0.5

#: The same where others wait meanwhile: an event loop, a graph that is run as a tool.
_BEGINS_SOON = 0.02

#: The turns of the calls that an interceptor stands before, by their ids.
made_together: ContextVar[dict[str, Turn]] = ContextVar("made_together")


class _Stage(Enum):
    COMING = auto()
    RUNNING = auto()
    ENDED = auto()


class Turn:
    """A call among those that were made with it."""

    __slots__ = ("_before", "_changed", "_longest", "_stage")

    def __init__(self, before: Turn | None, longest: float, changed: Any) -> None:
        self._before = before
        self._longest = longest
        self._changed = changed
        self._stage = _Stage.COMING

    def __enter__(self) -> None:
        self._is(_Stage.RUNNING)

    def __exit__(self, *_: object) -> None:
        self._is(_Stage.ENDED)

    def config(self, config: Any) -> Any:
        """A configuration whose counters wait for the calls before this one."""
        if self._before is None:
            return config
        known = config["configurable"]
        counters = known[CONFIG_KEY_SCRATCHPAD]
        own = dataclasses.replace(
            counters,
            interrupt_counter=self._after_their_end(counters.interrupt_counter),
            subgraph_counter=self._after_their_begin(counters.subgraph_counter),
            call_counter=self._after_their_begin(counters.call_counter),
        )
        return {**config, "configurable": {**known, CONFIG_KEY_SCRATCHPAD: own}}

    def _is(self, stage: _Stage) -> None:
        with self._changed:
            self._stage = stage
            self._changed.notify_all()

    def _after_their_end(self, counter: Callable[[], int]) -> Callable[[], int]:
        def number() -> int:
            # What runs on an event loop must not stop it.
            is_on_a_loop = asyncio._get_running_loop() is not None
            with self._changed:
                begins = _BEGINS_SOON if is_on_a_loop else _BEGINS
                self._changed.wait_for(self._have_begun, begins)
                if not is_on_a_loop:
                    self._changed.wait_for(self._have_ended, self._longest)
            return counter()

        return number

    def _after_their_begin(self, counter: Callable[[], int]) -> Callable[[], int]:
        def number() -> int:
            with self._changed:
                self._changed.wait_for(self._have_begun, _BEGINS_SOON)
            return counter()

        return number

    def _have_begun(self) -> bool:
        return all(turn._stage is not _Stage.COMING for turn in self._those_before())

    def _have_ended(self) -> bool:
        return all(turn._stage is not _Stage.RUNNING for turn in self._those_before())

    def _those_before(self) -> Iterator[Turn]:
        turn = self._before
        while turn is not None:
            yield turn
            turn = turn._before


def turns(config: Any, are_known: Sequence[bool], timeout: float | None) -> list[Turn | None]:
    """The turns of calls that are made together; none where nothing is counted or only one is to
    be run. Nobody waits for what is not known, nor long enough to be out of time himself."""
    if sum(are_known) < 2 or not _is_counted(config):
        return [None] * len(are_known)
    longest = 5.0 if timeout is None else min(5.0, timeout / 6)
    changed = threading.Condition()
    made: list[Turn | None] = []
    last = None
    for is_known in are_known:
        turn = Turn(last, longest, changed) if is_known else None
        last = turn or last
        made.append(turn)
    return made


def _is_counted(config: Any) -> bool:
    if PregelScratchpad is None:
        return False
    counters = (config.get("configurable") or {}).get(CONFIG_KEY_SCRATCHPAD)
    return isinstance(counters, PregelScratchpad)
