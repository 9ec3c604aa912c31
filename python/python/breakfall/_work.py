"""Where functions run: on kept threads, or as tasks of an event loop.

These are Python's own threads and tasks, and no frame of the extension lies below a tool on a kept
thread: an interpreter that ends may take it away.
"""

from __future__ import annotations

import _thread
import asyncio
import contextvars
import inspect
import sys
import threading
from types import CoroutineType
from typing import Any

from ._begun import Begun, made

#: Tasks are told their context variables since Python 3.11.
_HAS_CONTEXTS = sys.version_info >= (3, 11)


def _start_thread(function: Any, *arguments: Any) -> None:
    """Starts a thread of the system. One of gevent's would have no turn: who waits for it does not
    wait in Python."""
    monkey = sys.modules.get("gevent.monkey")
    if monkey is None:
        _thread.start_new_thread(function, arguments)
    else:
        monkey.get_original("_thread", "start_new_thread")(function, arguments)


def start(work: Any) -> None:
    """Starts a thread that takes its work from `work`."""
    _start_thread(_run, work)


def _run(work: Any) -> None:
    while (job := work.take()) is not None:
        function, arguments, extra, context, finish = job
        try:
            value = context.run(function, arguments, extra)
            if hasattr(value, "__await__"):
                value = context.run(awaited, value)
        except BaseException as error:  # noqa: BLE001 - the guard tells what is whose business
            finish.raised(error)
        else:
            finish.returned(value)
            del value
        # Nothing of a call is kept alive while the thread sleeps.
        del job, function, arguments, extra, context, finish


def task(loop: Any, function: Any, arguments: Any, extra: Any, finish: Any) -> Any:
    """Runs a coroutine function on the running loop. Most need no turn of the loop to be done, so
    that it begins at once, and there is no task where it is done by then."""
    ended = _Ended(finish)
    coroutine = _ending(function, arguments, extra, ended)
    caller = asyncio.current_task(loop)
    if _HAS_CONTEXTS and caller is not None and loop.get_task_factory() is None:
        begun = Begun.task(loop, caller, coroutine)
    else:
        begun = loop.create_task(coroutine)
    # A loop's own tasks may begin at once, too.
    if ended.is_told:
        return None
    ended.task = made(begun)
    ended.task.add_done_callback(ended)
    return ended.task


async def _ending(function: Any, arguments: Any, extra: Any, ended: Any) -> None:
    """Tells what came of a coroutine function as soon as it is known. A callback would be heard a
    turn of the loop later; it is for what ends a task from outside."""
    try:
        value = function(arguments, extra)
        if type(value) is CoroutineType or inspect.isawaitable(value):
            value = await value
    except Exception as error:
        finish, ended = ended.instead(), None
        finish.raised(error)
        # The exception holds this frame, which must not hold the exception.
        del finish
    else:
        ended.instead().returned(value)


async def _coroutine(function: Any, arguments: Any, extra: Any) -> Any:
    value = function(arguments, extra)
    return await value if inspect.isawaitable(value) else value


async def _kept(function: Any, arguments: Any, extra: Any) -> Any:
    try:
        return await _coroutine(function, arguments, extra)
    except (KeyboardInterrupt, SystemExit) as error:
        # They would end the loop, which others wait for: they are for the caller.
        return _Goes(error)


class _Goes:
    """What is to go on upwards where the caller is."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Ended:
    """Hears that a task has ended."""

    __slots__ = ("finish", "is_told", "task")

    def __init__(self, finish: Any) -> None:
        self.finish = finish
        self.is_told = False
        self.task: Any = None

    def instead(self) -> Any:
        """Who is to be told, for somebody who tells it now."""
        self.is_told = True
        if self.task is not None:
            self.task.remove_done_callback(self)
            self.task = None
        return self.finish

    def __call__(self, task: Any) -> None:
        self.task = None
        if task.cancelled():
            self.finish.raised(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self.finish.raised(error)
        elif isinstance(value := task.result(), _Goes):
            self.finish.raised(value.error)
        else:
            self.finish.returned(value)


def stop(task: Any) -> None:
    """Tells a task to stop, from whatever thread."""
    loop = task.get_loop()
    try:
        here = asyncio.get_running_loop() is loop
    except RuntimeError:
        here = False
    if here:
        task.cancel()
    else:
        loop.call_soon_threadsafe(task.cancel)


def wake(waiting: Any) -> None:
    """Lets a coroutine look again."""
    if not waiting.done():
        waiting.set_result(None)


class _Elsewhere:
    """A task that is made on another thread, and can be stopped before it is there."""

    def __init__(self, loop: Any, waits: _Kept | None) -> None:
        self.loop = loop
        self.waits = waits
        self.task: Any = None
        self.stopped = False

    def get_loop(self) -> Any:
        return self.loop

    def cancel(self) -> None:
        self.stopped = True
        if self.task is not None:
            self.task.cancel()

    def begin(self, function: Any, arguments: Any, extra: Any, finish: Any) -> None:
        self.task = self.loop.create_task(_kept(function, arguments, extra))
        self.task.add_done_callback(self._end)
        self.task.add_done_callback(_Ended(finish))
        if self.stopped:
            self.task.cancel()

    def _end(self, _: Any) -> None:
        if self.waits is not None:
            with _keeping:
                self.waits.waiting -= 1


class _Kept:
    """An event loop kept for callers that have none."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread: int | None = None
        #: How many calls its thread waits for. Meanwhile nothing gets on there.
        self.waiting = 0
        _start_thread(self._run)

    def _run(self) -> None:
        self.thread = threading.get_ident()
        self.loop.run_forever()


_loops: list[_Kept] = []
_keeping = threading.Lock()


def task_elsewhere(function: Any, arguments: Any, extra: Any, context: Any, finish: Any) -> Any:
    """Runs a coroutine function for a caller that has no loop, on one kept for that."""
    made = _elsewhere()
    made.loop.call_soon_threadsafe(made.begin, function, arguments, extra, finish, context=context)
    return made


def awaited(value: Any) -> Any:
    """What comes of something to wait for, for a caller that has no loop."""
    finish = _Awaited()
    task_elsewhere(_given, value, None, contextvars.copy_context(), finish)
    finish.ended.acquire()
    if finish.error is not None:
        raise finish.error
    return finish.value


async def _given(value: Any, _: Any) -> Any:
    return await value


class _Awaited:
    """Takes what came of a task."""

    def __init__(self) -> None:
        self.ended = threading.Semaphore(0)
        self.value: Any = None
        self.error: BaseException | None = None

    def returned(self, value: Any) -> None:
        self.value = value
        self.ended.release()

    def raised(self, error: BaseException) -> None:
        self.error = error
        self.ended.release()


def _elsewhere() -> _Elsewhere:
    """A place on a loop that gets on: not that of the caller, which waits."""
    here = threading.get_ident()
    with _keeping:
        caller = next((kept for kept in _loops if kept.thread == here), None)
        if caller is not None:
            caller.waiting += 1
        kept = next((kept for kept in _loops if kept.waiting == 0), None)
        if kept is None:
            kept = _Kept()
            _loops.append(kept)
        return _Elsewhere(kept.loop, caller)


def begin_anew() -> None:
    """No thread came through the fork."""
    global _keeping
    _loops.clear()
    _keeping = threading.Lock()
