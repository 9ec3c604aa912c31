"""Whether anybody hears of tools that run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

try:
    from langchain_core.globals import get_debug
    from langchain_core.tracers.context import _configure_hooks, _tracing_v2_is_enabled
    from langchain_core.utils.env import env_var_is_set
except ImportError:  # another release: nobody can be told not to listen
    _configure_hooks = None  # type: ignore[assignment]

try:
    from langchain_core.tracers.context import tracing_v2_callback_var
    from langsmith._internal import _context as _smith
    from langsmith._internal._context import _TRACING_ENABLED, get_current_run_tree
    from langsmith.utils import get_env_var

    _smith._GLOBAL_TRACING_ENABLED  # noqa: B018 - or it is another release
except (ImportError, AttributeError):
    _smith = None  # type: ignore[assignment]


def is_heard(config: Any) -> bool:
    """Whether anybody hears of tools that run: a handler, a tracer, a debugger, or who put his own
    functions in the place of LangChain's."""
    for of, name, own in _WAYS:
        # Quicker than to ask for what may be missing.
        if (of[name] if name in of else None) is not own:
            return True
    callbacks = config.get("callbacks")
    if callbacks:
        if isinstance(callbacks, list):
            return True
        if callbacks.handlers or callbacks.inheritable_handlers:
            return True
    if _configure_hooks is None or get_debug() or _is_traced():
        return True
    for variable, _, handler, environment in _configure_hooks:
        if variable.get() is not None:
            return True
        if environment is not None and handler is not None and env_var_is_set(environment):
            return True
    for name, text in _FORMER:
        if name in _environment and env_var_is_set(text):
            return True
    return False


def _ways() -> Iterator[tuple[Mapping[str, Any], str, Any]]:
    """The functions through which LangChain's classes run a tool, and where they stand. What others
    put there before we came is none of LangChain's."""
    for of in (vars(StructuredTool), vars(BaseTool)):
        for name in ("invoke", "ainvoke", "run", "arun", "_run", "_arun"):
            own = of.get(name)
            is_own = type(own) is FunctionType and own.__module__ == own.__globals__["__name__"]
            if own is None or is_own and own.__module__.startswith("langchain_core.tools."):
                yield of, name, own
            else:
                yield of, name, _WAYS


#: Of each class and name the function that LangChain has there, or none.
_WAYS: list[tuple[Mapping[str, Any], str, Any]] = []
_WAYS += _ways()


def _is_traced() -> Any:
    """As LangChain asks LangSmith, but quicker where nobody said anything but the environment."""
    if (
        _smith is None
        or _TRACING_ENABLED.get() is not None
        or _smith._GLOBAL_TRACING_ENABLED is not None
        or tracing_v2_callback_var.get() is not None
        or get_current_run_tree()
    ):
        return _tracing_v2_is_enabled()
    return get_env_var("TRACING_V2", default=get_env_var("TRACING", default="")) == "true"


#: The environment without its courtesies: to look for what is not there, `os.environ` raises.
_environment: Any = getattr(os.environ, "_data", os.environ)

#: How tracing was once switched on.
_FORMER = [
    (name if _environment is os.environ else os.environ.encodekey(name), name)
    for name in ("LANGCHAIN_TRACING", "LANGCHAIN_HANDLER")
]
