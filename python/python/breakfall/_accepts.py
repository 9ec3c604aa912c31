"""What a LangChain tool accepts, for the guard to check before the tool does."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import pydantic
from langchain_core.tools import BaseTool
from langchain_core.tools import Tool as SingleTextTool

from ._prebuilt import Injected
from ._schema import usable

try:
    from langchain_core.tools.base import _get_runnable_config_param as _get_runnable_config_param
except ImportError:  # another release: its way of calling tools is taken
    _get_runnable_config_param = None  # type: ignore[assignment]


class Running:
    """A call of a name, with the tool that is really run for it: code between the model and the
    tool may have brought another one than the guard knows by that name."""

    __slots__ = ("accepts", "is_refused", "other", "tool")

    def __init__(self, accepts: Accepts | None, tool: BaseTool | None) -> None:
        self.accepts = accepts
        self.tool = tool
        #: The schema had something against the arguments, and so had the tool.
        self.is_refused = False
        #: Another tool that is run instead of it, where one is.
        self.other: Any = None

    def is_for(self, tool: BaseTool | None) -> bool:
        """Whether what the guard knows of the name holds for a tool."""
        return self.accepts is not None and self.accepts.is_for(tool)


#: The call that the guard is asked in this context, where its tool may be another one.
running: ContextVar[Running | None] = ContextVar("running", default=None)


class Accepts:
    """Says of arguments that the schema of a name refuses whether its tool reads them all the
    same. A tool that came under the name of another is left to its own check."""

    def __init__(self, name: str, tool: BaseTool) -> None:
        self.tool = tool
        self.schema = usable(name, lambda: schema_of(tool))
        self._args_schema = getattr(tool, "args_schema", None)

    def __call__(self, arguments: dict[str, Any]) -> bool:
        known = running.get()
        if known is None or known.accepts is not self:
            return _reads(self.tool, arguments)
        if known.tool is None or not self.is_for(known.tool) or _reads(known.tool, arguments):
            return True
        known.is_refused = True
        return False

    def go_on_with(self, tool: BaseTool) -> None:
        """Goes on with another tool of the same schema."""
        self.tool = tool
        self._args_schema = getattr(tool, "args_schema", None)

    def is_for(self, tool: BaseTool | None) -> bool:
        """Whether the schema is that of a tool, too."""
        if tool is None:
            return False
        args_schema = getattr(tool, "args_schema", None)
        if args_schema is not None and args_schema is self._args_schema:
            return True
        if tool is self.tool and args_schema is self._args_schema:
            return True
        try:
            return bool(dict(schema_of(tool)) == self.schema)
        except Exception:  # noqa: BLE001 - it may be anybody's code
            return False


#: What LangChain tells a model of a tool that takes a single text, whatever its name.
_SINGLE_TEXT = {
    "type": "object",
    "properties": {"__arg1": {"type": "string"}},
    "required": ["__arg1"],
}


def schema_of(tool: Any) -> Any:
    """What the model may give."""
    has_schema = tool.args_schema is not None
    if isinstance(tool, SingleTextTool) and not has_schema:
        return _SINGLE_TEXT
    shape = tool.tool_call_schema
    if isinstance(shape, dict):
        return shape
    schema = shape.model_json_schema()
    return schema if has_schema else _without(schema, _handed_over(tool))


def _reads(tool: BaseTool, arguments: dict[str, Any]) -> bool:
    """Whether a tool reads arguments itself, where it has a check of its own."""
    if not isinstance(getattr(tool, "args_schema", None), type):
        return False
    try:
        hidden = Injected(tool).names
        tool._parse_input({name: arguments[name] for name in arguments if name not in hidden}, "")
    except pydantic.ValidationError as error:
        # What is injected is not there yet.
        return all(found["loc"] and found["loc"][0] in hidden for found in error.errors())
    except Exception:  # noqa: BLE001 - it may be anybody's code
        return False
    return True


def _handed_over(tool: BaseTool) -> set[str]:
    """What LangChain hands to a method as a tool: that its schema is read from the method does not
    make it the model's to give."""
    names = {"run_manager", "callbacks"}
    if _get_runnable_config_param is not None and (config := _get_runnable_config_param(tool._run)):
        names.add(config)
    return names


def _without(schema: dict[str, Any], names: set[str]) -> dict[str, Any]:
    kept = {name: of for name, of in schema.get("properties", {}).items() if name not in names}
    required = [name for name in schema.get("required", ()) if name not in names]
    return {**schema, "properties": kept, "required": required}
