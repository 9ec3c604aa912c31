"""Which run a call belongs to: one agent's work from a user message to its end."""

from __future__ import annotations

import itertools
from typing import Any

from langchain_core.messages import HumanMessage

_ANONYMOUS = "anonymous-"

_anonymous = itertools.count()


def run_of(state: Any, key: str, config: Any, runtime: Any) -> str:
    """A run by the best name there is. `key` is where the state has its messages."""
    info = getattr(runtime, "execution_info", None)
    thread = ((config or {}).get("configurable") or {}).get("thread_id")
    thread = thread or getattr(info, "thread_id", None)
    asked = _asked(_messages(state, key))
    if asked:
        # Whoever gives messages their ids may give the same ones in every thread.
        return f"{thread}/{asked}" if thread else asked
    run = getattr(info, "run_id", None) or thread
    # Of calls that nobody can tell apart none is a repeat of another.
    return str(run) if run else f"{_ANONYMOUS}{next(_anonymous)}"


def end_if_anonymous(guard: Any, run: str) -> None:
    """Forgets a run that nobody can come back to."""
    if run.startswith(_ANONYMOUS):
        guard.end_run(run)


def _messages(state: Any, key: str) -> Any:
    if isinstance(state, dict):
        return state.get(key)
    return state if isinstance(state, (list, tuple)) else getattr(state, key, None)


def _asked(messages: Any) -> str | None:
    """The id of the last message of a user."""
    for message in reversed(messages if isinstance(messages, (list, tuple)) else ()):
        if isinstance(message, HumanMessage):
            return message.id
    return None
