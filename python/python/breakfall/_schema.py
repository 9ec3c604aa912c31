"""A function's type hints become a schema, and checked arguments what the function expects."""

from __future__ import annotations

import functools
import inspect
import json
import logging
import types
from collections.abc import Callable, Container
from typing import Annotated, Any, get_origin, get_type_hints

import pydantic
from pydantic.fields import FieldInfo

from . import _breakfall
from ._failure import Failure
from ._logs import log

#: Types whose JSON form is the value itself.
_PLAIN = (str, int, float, bool, dict, list, type(None), Any)

#: Up to here a float tells every whole number from the next.
_EXACT = 2**53

#: Bytes of a name, with room for what tells it from another.
_LONGEST_NAME = 120


class Signature:
    """What a function accepts."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        hints = _hints(_written(function))
        fields: dict[str, Any] = {}
        aliases: dict[str, str] = {}
        takes_more = False
        # Their default is a description: only pydantic knows the value.
        self._described: set[str] = set()
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                takes_more = True
                continue
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
                raise TypeError(
                    f"`{name}`: `{parameter.name}` cannot be given by its name; "
                    "a model gives every argument by its name"
                )
            hint = hints.get(parameter.name, Any)
            default = ... if parameter.default is parameter.empty else parameter.default
            # Names that pydantic keeps for itself get another, and keep theirs in the schema.
            own = f"p{len(fields)}_" + parameter.name.strip("_")
            aliases[parameter.name] = own
            if isinstance(default, FieldInfo):
                self._described.add(own)
                fields[own] = (Annotated[hint, default], pydantic.Field(alias=parameter.name))
            else:
                fields[own] = (hint, pydantic.Field(default, alias=parameter.name))
        self.model = pydantic.create_model(
            name,
            __config__=pydantic.ConfigDict(
                extra="allow" if takes_more else "forbid", arbitrary_types_allowed=True
            ),
            **fields,
        )
        self._names = {own: name for name, own in aliases.items()}
        #: Nothing is made of the arguments but a number of another kind.
        self.is_plain = not self._described and all(
            hint in _PLAIN if get_origin(hint) is None else False
            for hint in (hints.get(name, Any) for name in aliases)
        )
        #: JSON has one kind of number; which one a function expects is told by its hints.
        self._numbers = [
            (name, hint) for name in aliases if (hint := hints.get(name)) in (int, float)
        ]
        self.schema = self.model.model_json_schema(by_alias=True)
        self.schema.pop("title", None)
        for shape in self.schema.get("properties", {}).values():
            shape.pop("title", None)

    def accepts(self, arguments: dict[str, Any]) -> bool:
        """Whether the hints accept what the schema does not: a validator reads a form of its own,
        and times without a zone are none to JSON Schema. Types are not changed for that."""
        try:
            self.model.model_validate_json(json.dumps(arguments), strict=True)
        except Exception:  # noqa: BLE001 - it may be anybody's code
            return False
        return True

    def values(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as the function expects them: models, dates, enumerations."""
        if self.is_plain:
            for name, kind in self._numbers:
                if name in arguments and type(arguments[name]) is not kind:
                    arguments = {**arguments, name: _number(name, arguments[name], kind)}
            return arguments
        try:
            checked = self.model.model_validate(arguments)
        except pydantic.ValidationError as error:
            raise refusal(error) from error
        given = {
            self._names[own]: getattr(checked, own)
            for own in checked.model_fields_set | self._described
            if own in self._names
        }
        return {**given, **(checked.model_extra or {})}


def _number(name: str, value: Any, kind: type[int] | type[float]) -> Any:
    """A number as the kind that is expected; what is none is left to the function."""
    try:
        if kind is float and type(value) is int:
            return float(value)
        if kind is int and type(value) is float and value.is_integer():
            if abs(value) > _EXACT:
                raise OverflowError
            return int(value)
    except OverflowError:
        remark = "the number is too large to be passed on exactly"
        raise Failure(kind="invalid_arguments", problems=[(name, remark)]) from None
    return value


def usable(name: str, schema: Callable[[], Any]) -> dict[str, Any]:
    """The schema of a tool that others wrote. One that the guard cannot use is not used: the tool
    checks its arguments alone then, and no other tool hears of it."""
    try:
        made: dict[str, Any] = dict(schema())
        _breakfall.Guard.check_tool("tool", made, "once")
        return made
    except Exception as error:  # noqa: BLE001 - it may be anybody's code
        log(logging.WARNING, "Schema not used", {"tool_name": name, "error": str(error)})
        return {"type": "object"}


def usable_name(name: str, taken: Container[str]) -> str:
    """The name of a tool that others wrote, as the guard can have it: it stands in sentences."""
    fits = name if _is_name(name) else _written_out(name)
    while fits in taken:
        fits += "_"
    return fits


def _is_name(name: str) -> bool:
    try:
        _breakfall.Guard.check_tool(name, {"type": "object"}, "once")
    except ValueError:
        return False
    return True


def _written_out(name: str) -> str:
    parts = (c if c.isprintable() and not c.isspace() and c != "`" else "_" for c in name)
    return "".join(parts).encode()[:_LONGEST_NAME].decode(errors="ignore") or "_"


def _hints(function: Any) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:
        # What it returns may have a name that is there for type checkers only.
        names = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
        known = getattr(function, "__globals__", {})
        return get_type_hints(
            types.SimpleNamespace(__annotations__=names), globalns=known, include_extras=True
        )


def _written(function: Callable[..., Any]) -> Any:
    """The function as it was written: below partial applications and objects that are called."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to wait for."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(_written(function))


def refusal(error: pydantic.ValidationError, hidden: frozenset[str] = frozenset()) -> Failure:
    """What pydantic finds wrong with arguments, without what the model cannot give."""
    problems = [
        (_path(found["loc"]), found["msg"])
        for found in error.errors(include_url=False, include_context=False, include_input=False)
        if not (found["loc"] and found["loc"][0] in hidden)
    ]
    failure = Failure(kind="invalid_arguments", problems=problems)
    failure._is_translated = True
    return failure


def _path(place: tuple[Any, ...]) -> str:
    path = ""
    for part in place:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else str(part)
    return path
