"""Whatever form an answer has, no secret in it reaches the model, and the rest is as it was."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.types import Command
from nodes import CONFIG, asks, call, node, ways

from breakfall.langgraph import wrap_tool_call

VALUE = "correct-horse-battery-staple"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
PICTURE = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}

ANSWERS = {
    "text": lambda id, content: content,
    "message": lambda id, content: ToolMessage(content, tool_call_id=id),
    "messages": lambda id, content: [ToolMessage(content, tool_call_id=id)],
    "command": lambda id, content: Command(
        update={"messages": [ToolMessage(content, tool_call_id=id)]}
    ),
    "commands": lambda id, content: [
        Command(update={"seen": True}),
        Command(update={"messages": [ToolMessage(content, tool_call_id=id)]}),
    ],
    "another message": lambda id, content: Command(
        update={"messages": [ToolMessage("fine", tool_call_id=id), HumanMessage(content)]}
    ),
    "another form": lambda id, content: Command(
        update={"messages": [ToolMessage("fine", tool_call_id=id), ("user", content)]}
    ),
}

answers = pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)

CONTENTS = {
    "text": lambda secret: f"it is {secret}",
    "text block": lambda secret: [{"type": "text", "text": f"it is {secret}"}],
    "json block": lambda secret: [{"type": "json", "json": {"a": [f"it is {secret}"]}}],
    "blocks": lambda secret: [
        {"type": "text", "text": "it is"},
        PICTURE,
        {"type": "text", "text": secret},
    ],
}

contents = pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)


def gives(answer: Any, seen: list[Any] | None = None) -> Any:
    @tool
    def give(id: Annotated[str, InjectedToolCallId]) -> Any:
        """Gives."""
        given = answer(id)
        if seen is not None:
            seen.append(given)
        return given

    return give


def outputs(made: Any, way: str) -> Any:
    state = {"messages": [asks(call("give", id="c1"))]}
    if way == "sync":
        return made.invoke(state, CONFIG)
    return asyncio.run(made.ainvoke(state, CONFIG))


@ways
@answers
@contents
def test_a_registered_value_reaches_the_model_in_no_form(way, answer, content):
    give = gives(lambda id: answer(id, content(VALUE)))
    said = str(outputs(node(give, redact=[VALUE]), way))
    assert VALUE not in said and "redacted" in said and "c1" in said


@ways
@answers
@contents
def test_secrets_by_shape_go_out_of_results_where_that_is_asked_for(way, answer, content):
    give = gives(lambda id: answer(id, content(TOKEN)))
    assert TOKEN in str(outputs(node(give), way))
    assert TOKEN not in str(outputs(node(give, redact_results=True), way))


@ways
@contents
@pytest.mark.parametrize(
    "within", [lambda m: m, lambda m: [m], lambda m: Command(update={"messages": [m]})]
)
def test_a_failure_is_told_without_secrets_in_every_form(way, content, within):
    def answer(id: str) -> Any:
        return within(ToolMessage(content(TOKEN), tool_call_id=id, status="error"))

    ours = node(gives(answer))
    said = str(outputs(ours, way))
    assert TOKEN not in said and "redacted" in said and "status='error'" in said
    assert ours.guard.counts()["failed"] == 1


@ways
@answers
@contents
def test_an_answer_without_secrets_is_as_it_was(way, answer, content):
    give = gives(lambda id: answer(id, content("no secret")))
    plain, ours = (
        outputs(node(give), way),
        outputs(node(give, redact=[VALUE], redact_results=True), way),
    )
    assert ours == plain


class Odd:
    def __str__(self) -> str:
        return f"odd {VALUE}"


def test_what_json_has_no_form_for_is_looked_at_as_it_is_written():
    block = {"type": "json", "json": {"a": Odd(), "b": 1 << 70}}
    give = gives(lambda id: ToolMessage([block], tool_call_id=id))
    [message] = outputs(node(give), "sync")["messages"]
    assert message.content[0]["json"]["a"].__class__ is Odd
    [message] = outputs(node(give, redact=[VALUE]), "sync")["messages"]
    assert VALUE not in str(message.content) and message.content[0]["type"] == "json"


def deep(value: Any) -> Any:
    for _ in range(300):
        value = [value]
    return value


@pytest.mark.parametrize("held", [{(1, 2): VALUE}, deep(VALUE)], ids=["a pair as a name", "depth"])
def test_of_what_cannot_be_written_at_all_nothing_passes_but_its_text(held):
    content = [{"type": "text", "text": "fine"}, {"type": "json", "json": held}]
    give = gives(lambda id: ToolMessage(content, tool_call_id=id))
    [message] = outputs(node(give), "sync")["messages"]
    assert message.content == content
    [message] = outputs(node(give, redact=[VALUE]), "sync")["messages"]
    assert message.content == "fine"


def test_the_rest_of_a_state_is_for_the_program():
    give = gives(
        lambda id: Command(
            update={"messages": [ToolMessage("fine", tool_call_id=id)], "key": VALUE}
        )
    )
    [command] = outputs(node(give, redact=[VALUE]), "sync")
    assert command.update["key"] == VALUE


def test_a_long_text_in_a_command_is_cut():
    give = gives(
        lambda id: Command(update={"messages": [ToolMessage("x" * 200_000, tool_call_id=id)]})
    )
    [command] = outputs(node(give), "sync")
    assert "200000 bytes in all" in command.update["messages"][0].content


@ways
@contents
def test_a_message_under_another_id_answers_the_call_it_came_from(way, content):
    give = gives(lambda id: ToolMessage(content("no secret"), tool_call_id="another", id="m1"))
    [message] = outputs(node(give), way)["messages"]
    assert (message.tool_call_id, message.id) == ("c1", "m1")
    assert message.content == content("no secret")


@ways
@pytest.mark.parametrize("text", ["no such button", f"no such button: {TOKEN}", "no button " * 999])
def test_pictures_of_a_failure_stay(way, text):
    content = [{"type": "text", "text": text}, PICTURE]
    give = gives(lambda id: ToolMessage(content, tool_call_id=id, status="error"))
    [message] = outputs(node(give), way)["messages"]
    said, picture = message.content
    assert (picture, message.status) == (PICTURE, "error")
    assert said["text"].startswith("no ") and len(said["text"]) < 2100 and TOKEN not in str(said)


class Model(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


@ways
@pytest.mark.parametrize("status", ["success", "error"])
def test_no_secret_in_a_command_passes_the_middleware(way, status):
    give = gives(
        lambda id: Command(
            update={"messages": [ToolMessage(f"it is {VALUE}", tool_call_id=id, status=status)]}
        )
    )
    model = Model(messages=iter([asks(call("give")), AIMessage("went on")]))
    guarded = wrap_tool_call(store=False, redact=[VALUE])
    made = create_agent(model, [give], middleware=[guarded])
    state = {"messages": [HumanMessage("go")]}
    done = made.invoke(state) if way == "sync" else asyncio.run(made.ainvoke(state))
    assert VALUE not in str(done) and "redacted" in done["messages"][-2].content
    assert guarded.guard.counts()["failed"] == (status == "error")
