"""What a tool answered, as the guard hears of it and as the model gets it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.types import Command

from ._breakfall import Output


def heard(answer: Any, id: str, key: str) -> Output:
    """An answer for the guard: the words that answer the call, and beside them everything in it
    that a model reads. `key` is where the state has its messages."""
    if isinstance(answer, ToolMessage):
        if id and answer.tool_call_id != id:
            # The answer of another call, of an agent within: here it answers this one.
            answer = answer.model_copy(update={"tool_call_id": id})
        if isinstance(answer.content, str):
            return Output(answer.content, answer, is_error=answer.status == "error")
    own = _own(answer, id, key)
    text = "" if own is None else message_text(own)
    is_error = own is not None and own.status == "error"
    return Output(text, answer, payload=_contents(answer, key), is_error=is_error)


def told(core: Any, answer: Any, reply: Any, id: str, key: str) -> Any:
    """An answer as the guard lets it go to the model."""
    if isinstance(answer, ToolMessage) and isinstance(answer.content, str):
        if reply.says(answer.content):
            return answer
        return _with_words(core, answer, answer.content, reply)
    own = _own(answer, id, key)
    clean = reply.payload(_contents(answer, key))
    contents = iter(_contents(answer, key) if clean is None else clean)

    def as_told(message: Any) -> Any:
        content = next(contents, "")
        if own is not None and message is own:
            return _with_words(core, message, content, reply)
        return message if clean is None else _with_content(message, content)

    return _each(answer, key, as_told)


def message_text(message: ToolMessage) -> str:
    """The text of a message; pictures and the like have none."""
    return _text(message.content)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = (block if isinstance(block, str) else block.get("text", "") for block in content)
    return "\n".join(text for text in texts if text)


def _with_words(core: Any, message: ToolMessage, content: Any, reply: Any) -> ToolMessage:
    """The message that answers the call, in the guard's words where they are others than its own.
    `content` is what it holds, without secrets."""
    text = message_text(message)
    is_its_own = reply.is_error and message.status == "error"
    # Words of its own stay its own, without secrets and bounded.
    words = core.clean(text) if is_its_own else reply.text
    if not reply.says(_text(content)) and words != _text(content):
        is_of_it = is_its_own or not reply.is_error
        content = _in_blocks(words, content) if is_of_it else words
    status = "error" if reply.is_error else "success"
    if content is message.content and status == message.status:
        return message
    return message.model_copy(update={"content": content, "status": status})


def _in_blocks(words: str, content: Any) -> Any:
    """Words in the place of those that content holds: what is no text stays."""
    if isinstance(content, str):
        return words
    return [{"type": "text", "text": words}, *(it for it in content if not _is_text(it))]


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or block.get("type") == "text"


def _own(answer: Any, id: str, key: str) -> ToolMessage | None:
    """The message that answers the call."""
    found: list[ToolMessage] = []

    def look(message: Any) -> Any:
        if isinstance(message, ToolMessage) and message.tool_call_id == id:
            found.append(message)
        return message

    _each(answer, key, look)
    return found[0] if found else None


def _contents(answer: Any, key: str) -> list[Any]:
    """What the messages of an answer hold, one by one."""
    found: list[Any] = []

    def look(message: Any) -> Any:
        found.append(message.content if isinstance(message, BaseMessage) else message)
        return message

    _each(answer, key, look)
    return found


def _with_content(message: Any, content: Any) -> Any:
    if isinstance(message, BaseMessage):
        return message.model_copy(update={"content": content})
    # A message in another form: a pair of a role and a text is one.
    return tuple(content) if isinstance(message, tuple) else content


def _each(answer: Any, key: str, change: Callable[[Any], Any]) -> Any:
    """The answer with each of its messages as `change` has it; the same where it changes none.
    What a command does to the rest of the state is for the program."""
    if isinstance(answer, list):
        made = [_each(one, key, change) for one in answer]
        is_same = all(one is other for one, other in zip(made, answer, strict=True))
        return answer if is_same else made
    if not isinstance(answer, Command):
        return change(answer)
    update = answer.update
    if isinstance(update, list):
        messages = _each(update, key, change)
        return answer if messages is update else dataclasses.replace(answer, update=messages)
    if not isinstance(update, dict) or update.get(key) is None:
        return answer
    messages = _each(update[key], key, change)
    if messages is update[key]:
        return answer
    return dataclasses.replace(answer, update={**update, key: messages})
