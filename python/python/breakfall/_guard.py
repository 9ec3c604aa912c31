"""The guard: every call is answered, exactly once, under its id."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from . import _breakfall
from ._breakfall import Reply
from ._failure import Failure
from ._forks import building
from ._schema import Signature, is_async, usable

F = TypeVar("F", bound=Callable[..., Any])

#: A call: a mapping with ``name``, ``args`` and ``id``, or a tuple of them in that order.
Call = Mapping[str, Any] | tuple[Any, ...]


class Guard:
    """Stands between a model and its tools.

    >>> guard = Guard(store=False)
    >>> @guard.tool
    ... def add(a: int, b: int) -> int:
    ...     "Adds two numbers."
    ...     return a + b
    >>> guard.call("add", {"a": 1, "b": 2}, id="call_1").text
    '3'
    >>> guard.call("ad", {"a": 1}).text.splitlines()[0]
    '`ad` is not a tool. Nearest: `add`.'

    Functions run on kept threads and coroutine functions on the caller's event loop, so that
    ``timeout`` holds for both: a function past its time is left behind, counted as a straggler, and
    the model is told that it may have taken effect. With ``timeout=None`` nobody keeps the time and
    a function runs where its caller is.

    Every exception is answered but those that are no failures: ``KeyboardInterrupt``,
    ``SystemExit``, ``GeneratorExit``, ``asyncio.CancelledError``, and the classes in ``passes``.
    """

    def __init__(
        self,
        tools: Iterable[Callable[..., Any]] = (),
        *,
        preset: str = "breakfall",
        config: str | os.PathLike[str] | None = None,
        timeout: float | None = 30.0,
        total_timeout: float | None = 55.0,
        attempts: int | None = None,
        checking: str = "strict",
        silent: str | None = None,
        store: bool | str | os.PathLike[str] = True,
        redact: str | Iterable[str] = (),
        redact_results: bool = False,
        keep_arguments: bool = False,
        max_error_bytes: int | None = None,
        concurrency: int | None = None,
        strict: bool = False,
        dispositions: Mapping[str, str] | None = None,
        passes: Sequence[type[BaseException]] = (),
        told: Sequence[type[BaseException]] = (),
    ) -> None:
        """
        :param tools: functions, as with :meth:`tool`.
        :param preset: whose words the model gets: ``breakfall``, ``openagents``, ``brynhild``,
            ``llmproc``, ``llmproc-rfc015``, ``sidekick``, ``sidekick-short``, ``json``.
        :param config: a ``breakfall.toml``. It stands above what is said here, and above both the
            environment: ``BREAKFALL_DEFAULTS__TOTAL_TIMEOUT=20s``.
        :param timeout: seconds that one attempt may take; ``None`` for ever.
        :param total_timeout: seconds that a call may take with its repeats.
        :param attempts: how often a call that may pass and does no harm is tried.
        :param checking: what happens to arguments that the schema does not accept: ``strict``,
            ``diagnose``, ``warn`` or ``off``.
        :param silent: what happens to a failure that came as a success: ``ignore``, ``note`` or
            ``fail``.
        :param store: where records are kept: ``True`` for the database that the program
            ``breakfall`` reads, or the one in ``BREAKFALL_STORE__PLACE``; a file or an address;
            ``False`` for nowhere.
        :param redact: secrets by their value, besides those that are known by their shape.
        :param dispositions: ``{kind: "recoverable" | "pause" | "fatal"}``.
        :param passes: exceptions that are none of the guard's business.
        :param told: exceptions whose text is meant for the model, as :class:`Failure` is.
        """
        self._options: dict[str, Any] = {
            "preset": preset,
            "config": None if config is None else os.fspath(config),
            "timeout": timeout,
            "total_timeout": total_timeout,
            "attempts": attempts,
            "checking": checking,
            "silent": silent,
            "store": _place(store),
            "redact": [redact] if isinstance(redact, str) else list(redact),
            "keep_arguments": keep_arguments,
            "redact_results": redact_results,
            "max_error_bytes": max_error_bytes,
            "concurrency": concurrency,
            "strict": strict,
            "dispositions": list((dispositions or {}).items()),
            "policies": [],
        }
        # What is wrong is said here, and not at the first call.
        _breakfall.Guard.check(self._options)
        self._passes = tuple(passes)
        self._told = tuple(told)
        self._core: _breakfall.Guard | None = None
        self._waiting: list[tuple[Any, ...]] = []
        for function in tools:
            self.tool(function)

    def __deepcopy__(self, memo: Any) -> Guard:
        # A copy of who uses it goes on with it: calls in flight and counts are no values.
        return self

    @property
    def core(self) -> _breakfall.Guard:
        """The guard itself, put together when it is first needed."""
        if self._core is None:
            with building:
                if self._core is None:
                    core = _breakfall.Guard(self._options, self._passes, self._told, Failure)
                    for tool in self._waiting:
                        core.add(*tool)
                    self._waiting = []
                    self._core = core
        return self._core

    @overload
    def tool(self, function: F) -> F: ...
    @overload
    def tool(
        self,
        function: None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        schema: Mapping[str, Any] | None = None,
        effect: str = "once",
        timeout: float | None = ...,
        attempts: int | None = None,
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        function: Any = None,
        *,
        name: str | None = None,
        description: str | None = None,
        schema: Mapping[str, Any] | None = None,
        effect: str = "once",
        timeout: float | None | Any = ...,
        attempts: int | None = None,
    ) -> Any:
        """Makes a function, sync or async, a tool, and gives it back unchanged.

        Its name, its docstring and its type hints are what the model sees; pydantic models, dates
        and enumerations arrive as such.

        :param effect: ``read_only``, ``idempotent`` or ``once``: may a call be repeated?
        :param timeout: seconds that one attempt may take; ``None`` for ever.
        """
        if function is None:
            return lambda function: self.tool(
                function,
                name=name,
                description=description,
                schema=schema,
                effect=effect,
                timeout=timeout,
                attempts=attempts,
            )
        name = name or getattr(function, "__name__", None)
        if name is None:
            raise TypeError(f"{function!r} has no name: say `name=`")
        if description is None:
            description = inspect.getdoc(function) or ""
        accepts = None
        if schema is None:
            signature = Signature(function, name)
            schema = usable(name, lambda: signature.schema)
            called = _called(function, signature.values)
            accepts = None if signature.is_plain else signature.accepts
        else:
            called = _called(function, dict)
        waits = is_async(function)
        self.add(
            name,
            description,
            schema,
            None if waits else called,
            called if waits else None,
            effect=effect,
            timeout=timeout,
            attempts=attempts,
            accepts=accepts,
        )
        return function

    def add(
        self,
        name: str,
        description: str,
        schema: Mapping[str, Any],
        function: Callable[[dict[str, Any], Any], Any] | None,
        coroutine: Callable[[dict[str, Any], Any], Any] | None = None,
        *,
        effect: str = "once",
        timeout: float | None | Any = ...,
        attempts: int | None = None,
        accepts: Callable[[dict[str, Any]], bool] | None = None,
    ) -> None:
        """Adds a tool as a function of two: the arguments as a dictionary, and what the caller
        handed over. Callers with an event loop get the coroutine function where there is one.

        :param accepts: says of arguments that the schema refuses whether the tool reads them all
            the same: they are handed over as they are then.
        """
        schema = dict(schema)
        # What is wrong is said here, and not at the first call of whatever tool.
        _breakfall.Guard.check_tool(name, schema, effect)
        tool = (name, description, schema, effect, function, coroutine, accepts)
        if timeout is not ... and timeout is not None and not timeout > 0:
            raise ValueError(f"`{name}`: a timeout is a number of seconds, not {timeout!r}")
        has_policy = timeout is not ... or attempts is not None
        with building:
            if self._core is None:
                if any(waiting[0] == name for waiting in self._waiting):
                    raise ValueError(f"there are two tools called `{name}`")
                if has_policy:
                    seconds = None if timeout is ... else (timeout or 0.0)
                    self._options["policies"].append((name, seconds, attempts))
                self._waiting.append(tool)
                return
        if has_policy:
            raise ValueError(
                f"`{name}`: a timeout or attempts of its own must be told before the first call"
            )
        self._core.add(*tool)

    def call(
        self,
        name: str,
        args: Mapping[str, Any] | str | None = None,
        *,
        id: str = "",
        run: str | None = None,
    ) -> Reply:
        """Answers a call. Never an exception of the tool's, always a reply under the call's id."""
        return self.core.call((name, args, id, run, None))

    async def acall(
        self,
        name: str,
        args: Mapping[str, Any] | str | None = None,
        *,
        id: str = "",
        run: str | None = None,
    ) -> Reply:
        """Answers a call while the event loop goes on."""
        replies = await answered(self.core, [(name, args, id, run, None)])
        return replies[0]

    def batch(self, calls: Iterable[Call], *, run: str | None = None) -> list[Reply]:
        """Answers calls side by side, in their order. One failure never stops the others."""
        return self.core.batch([_asked(call, run) for call in calls])

    async def abatch(self, calls: Iterable[Call], *, run: str | None = None) -> list[Reply]:
        """Answers calls side by side, in their order, while the event loop goes on."""
        return await answered(self.core, [_asked(call, run) for call in calls])

    def tools(self) -> list[dict[str, Any]]:
        """What may be called now: ``name``, ``description``, ``input_schema``, ``effect``."""
        return self.core.tools()

    def enable(self, name: str) -> None:
        """Lets a tool be called again."""
        self.core.enable(name)

    def disable(self, name: str) -> None:
        """Switches a tool off."""
        self.core.disable(name)

    def remove(self, name: str) -> None:
        """Takes a tool out."""
        self.core.remove(name)

    def end_run(self, run: str | None = None) -> None:
        """Forgets what failed in a run that ended, and lets its paused tools be called again."""
        self.core.end_run(run)

    def records(self, tool: str | None = None) -> list[dict[str, Any]]:
        """The newest records of calls that did not simply succeed, oldest first, without secrets:
        causes, traceback, attempts, what the model was told."""
        return self.core.records(tool)

    def summary(self) -> dict[str, int]:
        """How often each tool failed in which way: ``{"tool:Type": n}``. Exact."""
        return self.core.summary()

    def counts(self) -> dict[str, int]:
        """How many calls there were, by how they ended. Exact."""
        return self.core.counts()

    def stragglers(self) -> tuple[int, int]:
        """Functions that went on when their time was up: how many still run, and how many came to
        an end since, too late for their result."""
        return self.core.stragglers()


async def answered(core: _breakfall.Guard, asked: list[tuple[Any, ...]]) -> list[Reply]:
    """Waits for replies on the running event loop."""
    loop = asyncio.get_running_loop()
    answer = core.start(asked, loop)
    if isinstance(answer, list):
        return answer
    try:
        while True:
            waiting = loop.create_future()
            replies = answer.poll(waiting, loop)
            if replies is not None:
                return replies
            await waiting
    except BaseException:
        answer.close()
        raise


def _called(function: Any, values: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    return lambda arguments, _: function(**values(arguments))


def _place(store: bool | str | os.PathLike[str]) -> str | None:
    if isinstance(store, bool):
        return "" if store else None
    return os.fspath(store)


def _asked(call: Call, run: str | None) -> tuple[Any, ...]:
    if isinstance(call, Mapping):
        name = call.get("name", "")
        return (name, call.get("args"), call.get("id") or "", call.get("run", run), None)
    if not isinstance(call, (tuple, list)) or not call:
        # What is no call is answered as one that nobody can read.
        return ("", None, "", run, None)
    name, args, id, *_ = (*call, None, None)
    return (name, args, id or "", run, None)
