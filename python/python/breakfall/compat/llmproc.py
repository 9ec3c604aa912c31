"""What an agent of `llmproc` imports: results, a registry and a manager of tools.

A tool that is not there is always answered with ``This tool is not available``, problems with
arguments with ``Error: …``, and anything unexpected with ``An unexpected error occurred while
executing this tool``.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._breakfall import Output, Reply
from .._guard import Guard
from .._schema import Signature, is_async, usable
from .._values import text

__all__ = ["ToolManager", "ToolRegistry", "ToolResult", "register_tool"]


class ToolResult:
    """What came of a tool: its content, and whether that is an error."""

    def __init__(
        self, content: Any = None, is_error: bool = False, abort_execution: bool = False
    ) -> None:
        self.content = content
        self.is_error = is_error
        self.abort_execution = abort_execution

    @classmethod
    def from_success(cls, content: Any) -> ToolResult:
        """A result that succeeded."""
        return cls(content=content)

    @classmethod
    def from_error(cls, error_message: str) -> ToolResult:
        """A result that failed, with words for the model."""
        return cls(content=error_message, is_error=True)

    @classmethod
    def from_abort(cls, content: Any) -> ToolResult:
        """A result after which no further tool is run."""
        return cls(content=content, abort_execution=True)

    def to_dict(self) -> dict[str, Any]:
        """As Anthropic's API takes it: the content as a text."""
        content = "" if self.content is None else text(self.content)
        return {"content": content, "is_error": self.is_error}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolResult) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ToolResult(content={self.content!r}, is_error={self.is_error})"


def register_tool(
    name: str | None = None, description: str | None = None, **_: Any
) -> Callable[[Any], Any]:
    """A decorator that names and describes a function that becomes a tool."""

    def named(function: Any) -> Any:
        function._tool_name = name
        function._tool_description = description
        return function

    return named


class ToolRegistry:
    """Tools by their names, and their aliases. The guard calls them."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("preset", "llmproc")
        options.setdefault("attempts", 1)
        self.guard = Guard(**options)
        self.tool_handlers: dict[str, Callable[..., Any]] = {}
        self._definitions: dict[str, dict[str, Any]] = {}
        self._aliases: dict[str, str] = {}

    def register_tool(
        self,
        name: str | Callable[..., Any],
        handler: Callable[..., Any] | None = None,
        definition: Mapping[str, Any] | None = None,
    ) -> bool:
        """Adds a handler, which is called with the arguments by their names; false where the name
        is taken. A function alone is described by its type hints and its docstring."""
        if callable(name):
            handler, name = name, getattr(name, "_tool_name", None) or _named(name)
        if handler is None:
            raise ValueError(f"Tool '{name}' has no handler")
        if name in self.tool_handlers:
            return False
        definition = dict(definition or _described(handler, name))
        definition["name"] = name
        schema = definition.setdefault("input_schema", {"type": "object"})
        waits = is_async(handler)
        called = _acalled(handler) if waits else _called(handler)
        self.guard.add(
            name,
            definition.get("description") or "",
            usable(name, lambda: schema),
            None if waits else called,
            called if waits else None,
        )
        self.tool_handlers[name] = handler
        self._definitions[name] = definition
        return True

    def register_aliases(self, aliases: Mapping[str, str]) -> None:
        """Gives tools other names, by which the model calls them: ``{alias: name}``."""
        for alias, name in aliases.items():
            if alias in self.tool_handlers:
                raise ValueError(f"Alias '{alias}' is the name of a tool")
            self._aliases[alias] = name

    def get_handler(self, name: str) -> Callable[..., Any]:
        """The handler of a tool."""
        try:
            return self.tool_handlers[self._aliases.get(name, name)]
        except KeyError:
            raise ValueError(f"Tool '{name}' not found") from None

    def list_tools(self) -> list[str]:
        """The names of the tools, a copy."""
        return list(self.tool_handlers)

    get_tool_names = list_tools

    def get_definitions(self) -> list[dict[str, Any]]:
        """The definitions for a provider, copies, under their aliases where they have one."""
        by_name = {name: alias for alias, name in self._aliases.items()}
        return [
            {**definition, "name": by_name.get(name, name)}
            for name, definition in self._definitions.items()
        ]

    def enable(self, names: str | Iterable[str]) -> None:
        """Lets tools be called, by their names or aliases."""
        for name in [names] if isinstance(names, str) else names:
            self.guard.enable(self._aliases.get(name, name))

    def disable(self, names: str | Iterable[str]) -> None:
        """Switches tools off: the model is told that they are not available."""
        for name in [names] if isinstance(names, str) else names:
            self.guard.disable(self._aliases.get(name, name))

    async def call_tool(self, name: str, args: Mapping[str, Any] | None = None) -> ToolResult:
        """Calls a tool. Never an exception of the tool's, always a result."""
        reply = await self.guard.acall(self._aliases.get(name, name), args)
        value = reply.value
        if isinstance(value, ToolResult) and value.is_error:
            # Words of its own: they stay its own, without secrets and bounded.
            words = self.guard.core.clean(_words(value.content))
            return ToolResult(words, is_error=True, abort_execution=value.abort_execution)
        if reply.is_error:
            return ToolResult.from_error(reply.text)
        result = value if isinstance(value, ToolResult) else ToolResult.from_success(value)
        if result.content is None or _is_told(result.content, reply):
            return result
        return ToolResult(reply.text, abort_execution=result.abort_execution)


class ToolManager:
    """The tools of an agent: those that are registered, and which of them may be called."""

    def __init__(self, **options: Any) -> None:
        self.registry = ToolRegistry(**options)
        self.function_tools: list[Callable[..., Any]] = []

    @property
    def runtime_registry(self) -> ToolRegistry:
        """The registry, under its later name."""
        return self.registry

    @property
    def guard(self) -> Guard:
        """What calls the tools."""
        return self.registry.guard

    def register_tool(
        self,
        name: str | Callable[..., Any],
        handler: Callable[..., Any] | None = None,
        definition: Mapping[str, Any] | None = None,
    ) -> bool:
        """Adds a tool, as :meth:`ToolRegistry.register_tool` does."""
        return self.registry.register_tool(name, handler, definition)

    def register_tools(self, functions: Iterable[Callable[..., Any]]) -> ToolManager:
        """Adds functions as tools."""
        functions = list(functions)
        for function in functions:
            self._refuse_uncallable(function)
        for function in functions:
            self.add_function_tool(function)
            self.registry.register_tool(function)
        return self

    def add_function_tool(self, function: Callable[..., Any]) -> ToolManager:
        """Notes a function that is to be a tool; :meth:`process_function_tools` makes it one."""
        self._refuse_uncallable(function)
        if function not in self.function_tools:
            self.function_tools.append(function)
        return self

    def process_function_tools(self) -> ToolManager:
        """Makes the noted functions tools."""
        for function in self.function_tools:
            self.registry.register_tool(function)
        return self

    def register_aliases(self, aliases: Mapping[str, str]) -> ToolManager:
        """Gives tools other names: ``{alias: name}``."""
        self.registry.register_aliases(aliases)
        return self

    def enable(self, names: str | Iterable[str]) -> ToolManager:
        """Lets tools be called, by their names or aliases."""
        self.registry.enable(names)
        return self

    def disable(self, names: str | Iterable[str]) -> ToolManager:
        """Switches tools off: the model is told that they are not available."""
        self.registry.disable(names)
        return self

    def set_enabled_tools(self, names: Iterable[str]) -> ToolManager:
        """These tools may be called from now on, and no others."""
        self.registry.disable(self.registry.list_tools())
        return self.enable(names)

    def list_tools(self) -> list[str]:
        """The names of the tools that may be called now."""
        callable_now = {tool["name"] for tool in self.guard.tools()}
        return [name for name in self.registry.list_tools() if name in callable_now]

    get_enabled_tools = list_tools

    def get_registered_tools(self) -> list[str]:
        """The names of all tools."""
        return self.registry.list_tools()

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The definitions for a provider."""
        return self.registry.get_definitions()

    async def call_tool(self, name: str, args: Mapping[str, Any] | None = None) -> ToolResult:
        """Calls a tool. Never an exception of the tool's, always a result."""
        return await self.registry.call_tool(name, args)

    @staticmethod
    def _refuse_uncallable(function: Any) -> None:
        if not callable(function):
            raise ValueError(f"Expected a callable, got {type(function)}")


def _named(handler: Any) -> str:
    while isinstance(handler, functools.partial):
        handler = handler.func
    return str(getattr(handler, "__name__", type(handler).__name__))


def _described(handler: Callable[..., Any], name: str) -> dict[str, Any]:
    described = getattr(handler, "_tool_description", None) or inspect.getdoc(handler) or ""
    return {"description": described, "input_schema": Signature(handler, name).schema}


def _called(handler: Callable[..., Any]) -> Any:
    return lambda arguments, _: _output(handler(**arguments))


def _acalled(handler: Callable[..., Any]) -> Any:
    async def call(arguments: dict[str, Any], _: Any) -> Any:
        return _output(await handler(**arguments))

    return call


def _output(value: Any) -> Any:
    if not isinstance(value, ToolResult):
        return value
    return Output(_words(value.content), value, is_error=value.is_error)


def _words(content: Any) -> str:
    return "" if content is None else text(content)


def _is_told(content: Any, reply: Reply) -> bool:
    """Whether the model is given all of it: no secret stood in it, and it was not too long."""
    words = text(content)
    return reply.says(words) or _read(words) == _read(reply.text)


def _read(words: str) -> Any:
    """What JSON says, however it is written."""
    try:
        return json.loads(words)
    except (ValueError, RecursionError):
        return words
