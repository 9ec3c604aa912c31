"""Messages that answer calls. LangChain checks every message it makes, which takes longer than most
tools; these are copies of one that was checked, with texts that cannot be wrong."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools.base import _format_output, _stringify
from pydantic import BaseModel

_FAILED = ToolMessage(content="", name="", tool_call_id="", status="error")
_SUCCEEDED = ToolMessage(content="", artifact=None, name="", tool_call_id="", status="success")

#: As pydantic sets what it has checked: what a field is set to would be looked at again.
_set_fields, _set_names, _set_extra, _set_private = (
    vars(BaseModel)[name].__set__
    for name in (
        "__dict__",
        "__pydantic_fields_set__",
        "__pydantic_extra__",
        "__pydantic_private__",
    )
)

#: What is written as JSON, and never a message or a part of one.
_PLAIN = (int, float, bool, dict, type(None))


def failed(words: Any, name: Any, id: Any) -> ToolMessage:
    """The answer to a call that failed, in the guard's words or in what a handler gave instead."""
    if type(words) is type(name) is type(id) is str:
        return _copy(_FAILED, words, name, id)
    return ToolMessage(content=words, name=name, tool_call_id=id, status="error")


def returned(response: Any, artifact: Any, name: str, id: Any) -> Any:
    """What a tool returned, as LangChain makes a message of it."""
    if artifact is None and type(id) is str:
        words = _stringify(response) if type(response) in _PLAIN else response
        if type(words) is str:
            return _copy(_SUCCEEDED, words, name, id)
    return _format_output(response, artifact, id, name, "success")


def _copy(checked: ToolMessage, words: str, name: str, id: str) -> ToolMessage:
    message = ToolMessage.__new__(ToolMessage)
    fields = checked.__dict__.copy()
    fields["content"] = words
    fields["name"] = name
    fields["tool_call_id"] = id
    fields["additional_kwargs"] = {}
    fields["response_metadata"] = {}
    extra = checked.__pydantic_extra__
    _set_fields(message, fields)
    _set_names(message, checked.__pydantic_fields_set__.copy())
    _set_extra(message, extra if extra is None else extra.copy())
    _set_private(message, checked.__pydantic_private__)
    return message
