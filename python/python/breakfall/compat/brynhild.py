"""What an agent of `brynhild` imports: results of three fields, and the class of its tools."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from .._breakfall import Output, Reply
from .._guard import Guard
from .._schema import usable
from .._values import text

__all__ = ["Tool", "ToolRegistry", "ToolResult"]


@dataclasses.dataclass
class ToolResult:
    """What came of a tool; output and error both, where some was done."""

    success: bool
    output: str
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The three fields."""
        return dataclasses.asdict(self)


class Tool(abc.ABC):
    """A tool: its name, description and schema, and what it does."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Its name, as the model writes it."""

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """What it does, for the model."""

    @property
    @abc.abstractmethod
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of its input."""

    @abc.abstractmethod
    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Does the work."""

    @property
    def version(self) -> str:
        """Its version."""
        return "0.0.0"

    @property
    def categories(self) -> list[str]:
        """What it belongs to."""
        return []

    @property
    def examples(self) -> list[dict[str, Any]]:
        """Calls that show its use."""
        return []

    @property
    def requires_permission(self) -> bool:
        """Whether a person is asked first."""
        return True

    def to_api_format(self) -> dict[str, Any]:
        """Its definition for Anthropic's API."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }

    def to_openai_format(self) -> dict[str, Any]:
        """Its definition for OpenAI's API."""
        function = self.to_api_format()
        function["parameters"] = function.pop("input_schema")
        return {"type": "function", "function": function}

    def _require_input(self, input: dict[str, Any], key: str, *, label: str | None = None) -> Any:
        """The value of a required field, or the result that says ``No LABEL provided``."""
        value = input.get(key)
        if value:
            return value
        return ToolResult(success=False, output="", error=f"No {label or key} provided")

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"


class ToolRegistry:
    """Tools by their names. The guard calls them, so that every call has its result."""

    def __init__(self, tools: Iterable[Tool] = (), **options: Any) -> None:
        options.setdefault("preset", "brynhild")
        options.setdefault("checking", "diagnose")
        self.guard = Guard(**options)
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Adds a tool."""
        if tool.name in self._tools:
            raise ValueError(f"Tool '{tool.name}' is already registered")

        async def execute(arguments: dict[str, Any], _: Any) -> Any:
            return _output(await tool.execute(arguments))

        schema = usable(tool.name, lambda: tool.input_schema)
        self.guard.add(tool.name, tool.description, schema, None, execute)
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """A tool by its name."""
        return self._tools.get(name)

    def list_tools(self) -> list[Tool]:
        """The tools, a copy."""
        return list(self._tools.values())

    def to_api_format(self) -> list[dict[str, Any]]:
        """The definitions for Anthropic's API."""
        return [tool.to_api_format() for tool in self._tools.values()]

    async def execute(self, name: str, input: Mapping[str, Any] | None = None) -> ToolResult:
        """Calls a tool. Never an exception of the tool's, always a result."""
        reply = await self.guard.acall(name, input)
        result = reply.value
        if isinstance(result, ToolResult):
            return self._told(result, reply)
        return ToolResult(reply.success, reply.output or "", reply.error)

    def _told(self, result: ToolResult, reply: Reply) -> ToolResult:
        """A tool's own result as the model gets it: its words stay its own, without secrets and
        bounded."""
        clean = self.guard.core.clean
        output = (reply.output or "") if result.success else clean(_text(result.output))
        error = None if result.error is None else clean(_text(result.error))
        return dataclasses.replace(result, output=output, error=error)


def _output(result: Any) -> Any:
    if not isinstance(result, ToolResult):
        return result
    if result.success:
        return Output(_text(result.output), result)
    return Output(_text(result.error or result.output), result, is_error=True)


def _text(value: Any) -> str:
    """What stands in a field, which may be anything."""
    return "" if value is None else text(value)
