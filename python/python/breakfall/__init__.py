"""Answers every tool call of a model: what can go on goes on, what cannot stops with the true
reason.

>>> from breakfall import Guard
>>> guard = Guard(store=False)
>>> @guard.tool
... def read(path: str) -> str:
...     "Reads a file."
...     return open(path).read()
>>> print(guard.call("read", {"path": "/no/such/file"}, id="call_1").text.splitlines()[0])
`read` did not find `/no/such/file`.

:mod:`breakfall.langgraph` has a node for LangGraph and a middleware for LangChain's agents;
:mod:`breakfall.compat` the names that agents of other systems import.
"""

from __future__ import annotations

import atexit as _atexit

# isort: off
from . import _interpreter as _interpreter  # refuses before anything is loaded
from . import _breakfall, _forks

# isort: on
from ._breakfall import Output, Reply, __version__, redact
from ._failure import Failure
from ._guard import Guard

__all__ = ["Failure", "Guard", "Output", "Reply", "__version__", "redact"]


_forks.watch()

# What waits to be kept is written before the interpreter ends.
_atexit.register(_breakfall.close)
