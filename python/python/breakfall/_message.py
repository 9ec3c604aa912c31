"""Messages that answer calls. LangChain checks every message it makes, which takes longer than most
tools; these are copies of one that was checked, with texts that cannot be wrong."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools.base import _format_output, _stringify

_FAILED = ToolMessage(content="", name="", tool_call_id="", status="error")
_SUCCEEDED = ToolMessage(content="", artifact=None, name="", tool_call_id="", status="success")

#: What is written as JSON, and never a message or a part of one.
_PLAIN = (int, float, bool, dict, type(None))


def failed(words: str, name: Any, id: Any) -> ToolMessage:
    """The answer to a call that failed, in the guard's words."""
    if type(name) is type(id) is str:
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
    message = checked.__copy__()
    message.__dict__.update(
        content=words, name=name, tool_call_id=id, additional_kwargs={}, response_metadata={}
    )
    return message
