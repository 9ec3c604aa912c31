"""A fork takes one thread along: what others hold then is held in the child for ever."""

from __future__ import annotations

import os
import sys
import threading

from . import _breakfall, _work

#: Held while a guard is put together or given a tool. One for all, so that a fork can wait for it.
building = threading.RLock()


def _before() -> None:
    building.acquire()
    _breakfall.before_fork()


def _after_in_parent() -> None:
    _breakfall.after_fork_in_parent()
    building.release()


def _after_in_child() -> None:
    _breakfall.after_fork()
    _work.begin_anew()
    building.release()
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        # What is to be done at the end is forgotten when such a process begins, after this.
        util.register_after_fork(sys.modules[__name__], _close_at_the_end)


def _close_at_the_end(_: object) -> None:
    """The processes of `multiprocessing` end without `atexit`."""
    from multiprocessing.util import Finalize

    Finalize(None, _breakfall.close, exitpriority=0)


def watch() -> None:
    """Sees to it that children can use the guards of their parent."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
        )
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        _close_at_the_end(None)
