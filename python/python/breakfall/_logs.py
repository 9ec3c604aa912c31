"""Log lines of the guard, in Python's `logging` under the name `breakfall`."""

from __future__ import annotations

import logging
import sys
from contextvars import ContextVar
from typing import Any

logger = logging.getLogger("breakfall")

#: A call is made only for its words: it has been logged.
is_known: ContextVar[bool] = ContextVar("is_known", default=False)

#: Nobody listens.
_SILENT = sys.maxsize

#: What a log record has already.
_TAKEN = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime"}


def level() -> int:
    """The lowest level that anybody listens to. Where no handler is set, nobody does."""
    at: Any = logger
    while at is not None:
        for handler in at.handlers:
            if not isinstance(handler, logging.NullHandler):
                return logger.getEffectiveLevel() if logger.isEnabledFor(40) else _SILENT
        at = at.parent if at.propagate else None
    return _SILENT


def log(number: int, message: str, fields: dict[str, Any]) -> None:
    """Writes a line with its fields as `extra`. A name that a record has already gets a `_`."""
    # Who listened when the call began may be gone.
    if not is_known.get() and number >= level() and logger.isEnabledFor(number):
        extra = {name + "_" if name in _TAKEN else name: value for name, value in fields.items()}
        record = logger.makeRecord(
            logger.name, number, "breakfall", 0, message, (), None, None, extra
        )
        logger.handle(record)
