"""What an agent of `sidekick` imports.

>>> from breakfall.compat.sidekick import format_tool_error_for_llm
>>> print(format_tool_error_for_llm("search", "RateLimitError", "Too many requests"))
Tool Execution Failed
Tool: search
Error Type: RateLimitError
Message: Too many requests
<BLANKLINE>
The tool failed and cannot be used for this request.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from .. import _breakfall
from .._forks import building
from ..langgraph import ErrorHandlingToolNode as _ErrorHandlingToolNode

__all__ = [
    "ErrorHandlingToolNode",
    "ToolErrorRegistry",
    "ToolExecutionError",
    "create_tool_error_message",
    "format_tool_error_for_llm",
    "wrap_tool_with_error_handling",
]

T = TypeVar("T")

#: The most entries that are kept of one kind of error; its count goes on.
_KEPT = 1000


class ToolExecutionError(Exception):
    """A tool failed: which, with what, and why."""

    def __init__(
        self,
        tool_name: str,
        original_error: Exception,
        tool_input: Any = None,
        message: str | None = None,
    ) -> None:
        self.tool_name = tool_name
        self.original_error = original_error
        self.tool_input = tool_input
        self.error_type = type(original_error).__name__
        self.timestamp = datetime.now()
        self.message = message or f"Tool '{tool_name}' failed: {self.error_type}"
        super().__init__(self.message)

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.tool_name, self.original_error, self.tool_input, self.message)
        return (type(self), given, {"timestamp": self.timestamp})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the text of the original error, for a log or a file."""
        return {
            "tool_name": self.tool_name,
            "error_type": self.error_type,
            "message": _breakfall.redact(_text(self.original_error)),
            "timestamp": self.timestamp.isoformat(),
        }


def _text(error: BaseException) -> str:
    """What an error says; one that cannot be written says nothing."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever its author did
        return ""


def format_tool_error_for_llm(tool_name: str, error_type: str, error_message: str) -> str:
    """Five lines for the model, without secrets."""
    return _breakfall.speak("sidekick", tool_name, error_type, error_message)


def create_tool_error_message(tool_name: str, error: Exception, tool_call_id: str) -> ToolMessage:
    """One line for the model as a tool message; the error's text is cut at 500 characters."""
    content = _breakfall.speak("sidekick-short", tool_name, type(error).__name__, _text(error))
    return ToolMessage(content=content, tool_call_id=tool_call_id, name=tool_name, status="error")


class ToolErrorRegistry:
    """Counts errors by tool and type, and keeps the newest."""

    def __init__(self) -> None:
        self.errors: dict[str, list[dict[str, Any]]] = {}
        self.error_counts: dict[str, int] = {}

    def record_error(self, tool_name: str, error: Exception) -> None:
        """Notes an error of a tool."""
        key = f"{tool_name}:{type(error).__name__}"
        entry = {
            "timestamp": datetime.now().isoformat(),
            "error_message": _breakfall.redact(_text(error))[:200],
        }
        with building:
            entries = self.errors.setdefault(key, [])
            entries.append(entry)
            del entries[:-_KEPT]
            self.error_counts[key] = self.error_counts.get(key, 0) + 1

    def get_error_summary(self) -> dict[str, int]:
        """``{"tool:Type": n}``, a copy."""
        with building:
            return dict(self.error_counts)

    def get_errors_for_tool(self, tool_name: str) -> dict[str, list[dict[str, Any]]]:
        """``{"tool:Type": [entries]}`` of one tool, copies."""
        with building:
            return {
                key: copy.deepcopy(entries)
                for key, entries in self.errors.items()
                if key.rpartition(":")[0] == tool_name
            }


def wrap_tool_with_error_handling(tool: T) -> T:
    """Gives the tool back as it is: the node guards it."""
    return tool


class ErrorHandlingToolNode(_ErrorHandlingToolNode):
    """The node, speaking as `sidekick` does: ``node(state)`` works as well as ``node.invoke``."""

    def __init__(self, tools: Sequence[BaseTool | Callable[..., Any]], **options: Any) -> None:
        options.setdefault("preset", "sidekick")
        super().__init__(tools, **options)
