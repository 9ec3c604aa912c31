"""The middleware for LangChain's agents."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pydantic
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from breakfall.langgraph import wrap_tool_call


class Model(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


@tool
def fails() -> str:
    """Fails."""
    raise LookupError("row 7 is not there")


@tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


def agent(*calls: dict[str, Any], middleware: Any) -> Any:
    messages = [AIMessage("", tool_calls=list(calls)), AIMessage("went on")]
    return create_agent(Model(messages=iter(messages)), [fails, add], middleware=middleware)


def call(name: str, args: Any = None, id: str = "1") -> dict[str, Any]:
    return {"name": name, "args": args or {}, "id": id}


ASKED = {"messages": [HumanMessage("go")]}


def test_without_it_the_agent_dies():
    with pytest.raises(LookupError):
        agent(call("fails"), middleware=[]).invoke(ASKED)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_with_it_the_agent_goes_on(way):
    guarded = wrap_tool_call(store=False)
    made = agent(call("fails", id="1"), call("add", {"a": 1, "b": 1}, "2"), middleware=[guarded])
    done = made.invoke(ASKED) if way == "sync" else asyncio.run(made.ainvoke(ASKED))
    answers = [m for m in done["messages"] if isinstance(m, ToolMessage)]
    assert [(m.tool_call_id, m.status) for m in answers] == [("1", "error"), ("2", "success")]
    assert done["messages"][-1].content == "went on"
    assert "row 7" not in answers[0].content
    assert guarded.guard.summary() == {"fails:LookupError": 1}


def test_an_unknown_tool_is_answered_by_the_guard():
    done = agent(call("ad"), middleware=[wrap_tool_call(store=False)]).invoke(ASKED)
    assert done["messages"][-2].content.startswith("`ad` is not a tool. Nearest: `add`.")


def test_bad_arguments_are_answered():
    made = agent(call("add", {"a": []}), middleware=[wrap_tool_call(store=False)])
    answer = made.invoke(ASKED)["messages"][-2]
    assert (answer.status, "b" in answer.content) == ("error", True)


def test_it_answers_for_middleware_within():
    class Breaks(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            raise RuntimeError("broken middleware")

    made = agent(call("add", {"a": 1, "b": 1}), middleware=[wrap_tool_call(store=False), Breaks()])
    assert made.invoke(ASKED)["messages"][-2].status == "error"


class Within(AgentMiddleware):
    """Knows tools that the agent does not."""

    def wrap_tool_call(self, request, handler):
        name = request.tool_call["name"]
        if name == "dynamic":
            raise LookupError("row 7 is not there")
        if name == "refuses":
            return ToolMessage("closed today", tool_call_id=request.tool_call["id"], status="error")
        return handler(request)

    async def awrap_tool_call(self, request, handler):
        if request.tool is not None:
            return await handler(request)
        return self.wrap_tool_call(request, handler)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_it_answers_for_tools_that_only_a_middleware_within_knows(way):
    guarded = wrap_tool_call(store=False)
    calls = [call("dynamic", id="1"), call("refuses", id="2")]
    made = agent(*calls, middleware=[guarded, Within()])
    done = made.invoke(ASKED) if way == "sync" else asyncio.run(made.ainvoke(ASKED))
    first, second = [m for m in done["messages"] if isinstance(m, ToolMessage)]
    assert first.status == second.status == "error"
    assert "row 7" not in first.content and "is not a tool" not in first.content
    assert second.content == "closed today"
    assert done["messages"][-1].content == "went on"


def test_bad_arguments_are_told_in_the_guards_words():
    made = agent(call("add", {"a": [], "note": "mine"}), middleware=[wrap_tool_call(store=False)])
    answer = made.invoke(ASKED)["messages"][-2]
    assert answer.content.startswith("`add` did not accept its arguments")
    assert "Error invoking tool" not in answer.content


class Unwritten(AgentMiddleware):
    """Was never written for an event loop."""

    def wrap_tool_call(self, request, handler):
        return handler(request)


@pytest.mark.parametrize("name", ["add", "dynamic"])
def test_a_middleware_that_was_not_written_for_this_is_for_its_developer(name):
    made = agent(
        call(name, {"a": 1, "b": 1}), middleware=[wrap_tool_call(store=False), Unwritten()]
    )
    with pytest.raises(NotImplementedError, match="awrap_tool_call"):
        asyncio.run(made.ainvoke(ASKED))


def test_what_a_tool_has_not_implemented_is_answered():
    @tool
    def later() -> str:
        """Is for later."""
        raise NotImplementedError("not yet")

    messages = [AIMessage("", tool_calls=[call("later")]), AIMessage("went on")]
    guarded = wrap_tool_call(store=False)
    made = create_agent(Model(messages=iter(messages)), [later], middleware=[guarded])
    assert made.invoke(ASKED)["messages"][-1].content == "went on"
    assert guarded.guard.summary() == {"later:NotImplementedError": 1}


@pytest.mark.parametrize("way", ["sync", "async"])
def test_an_answer_that_an_interrupt_does_not_accept_is_for_who_gave_it(way):
    guarded = wrap_tool_call(store=False)
    asks = HumanInTheLoopMiddleware(interrupt_on={"add": True}, interrupt_mode="per_call")
    messages = [AIMessage("", tool_calls=[call("add", {"a": 1, "b": 1})]), AIMessage("went on")]
    made = create_agent(
        Model(messages=iter(messages)),
        [add],
        middleware=[guarded, asks],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "1"}}

    def go(input: Any) -> Any:
        if way == "sync":
            return made.invoke(input, config)
        return asyncio.run(made.ainvoke(input, config))

    [asked] = go(ASKED)["__interrupt__"]
    with pytest.raises(pydantic.ValidationError):
        go(Command(resume={asked.id: {"type": "edit"}}))
    done = go(Command(resume={asked.id: {"type": "approve"}}))
    assert [m.content for m in done["messages"] if isinstance(m, ToolMessage)] == ["2"]


def test_a_tools_own_validator_sees_what_the_model_wrote():
    @tool
    def chmod(mode: Annotated[int, pydantic.BeforeValidator(lambda text: int(text, 8))]) -> str:
        """Changes a mode."""
        return oct(mode)

    messages = [AIMessage("", tool_calls=[call("chmod", {"mode": "755"})]), AIMessage("went on")]
    guarded = wrap_tool_call(store=False)
    made = create_agent(Model(messages=iter(messages)), [chmod], middleware=[guarded])
    assert made.invoke(ASKED)["messages"][-2].content == "0o755"


@tool
def lookup(order: str) -> str:
    """Looks up an order."""
    raise FileNotFoundError(2, "No such file or directory", order)


def asked_once(guarded: Any, state: Any, thread: str | None) -> str:
    messages = [AIMessage("", tool_calls=[call("lookup", {"order": "A1"})]), AIMessage("went on")]
    made = create_agent(Model(messages=iter(messages)), [lookup], middleware=[guarded])
    made.invoke(state, {"configurable": {"thread_id": thread}} if thread else None)
    return guarded.guard.records()[-1]["failure"]["kind"]


@pytest.mark.parametrize(
    ("state", "threads"),
    [
        ({"messages": [SystemMessage("nightly job")]}, [None] * 8),
        ({"messages": [SystemMessage("nightly job")]}, [str(n) for n in range(8)]),
        ({"messages": [HumanMessage("go", id="1")]}, [str(n) for n in range(8)]),
    ],
)
def test_what_failed_in_one_thread_refuses_nothing_in_another(state, threads):
    guarded = wrap_tool_call(store=False)
    kinds = [asked_once(guarded, state, thread) for thread in threads]
    assert kinds == ["not_found"] * 8


def test_a_call_that_comes_again_in_a_thread_is_refused():
    guarded = wrap_tool_call(store=False)
    state = {"messages": [HumanMessage("go", id="1")]}
    assert [asked_once(guarded, state, "a") for _ in range(8)][-1] == "repeated"
    assert asked_once(guarded, state, "b") == "not_found"


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_tool_that_is_only_a_coroutine_is_run_without_a_loop_as_well(way):
    @tool
    async def search(q: str, runtime: ToolRuntime, config: RunnableConfig) -> str:
        """Searches."""
        await asyncio.sleep(0)
        return f"{q} {runtime.tool_call_id} {config['configurable']['thread_id']}"

    @tool
    async def breaks() -> str:
        """Breaks."""
        raise LookupError("row 7 is not there")

    asked = [call("search", {"q": "tea"}, "1"), call("breaks", id="2")]
    messages = [AIMessage("", tool_calls=asked), AIMessage("went on")]
    guarded = wrap_tool_call(store=False)
    made = create_agent(Model(messages=iter(messages)), [search, breaks], middleware=[guarded])
    config = {"configurable": {"thread_id": "a"}}
    done = made.invoke(ASKED, config) if way == "sync" else asyncio.run(made.ainvoke(ASKED, config))
    answers = [m for m in done["messages"] if isinstance(m, ToolMessage)]
    assert [m.status for m in answers] == ["success", "error"]
    assert answers[0].content == "tea 1 a"
    assert guarded.guard.summary() == {"breaks:LookupError": 1}


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("gives", [None, "a text", {"a": 1}])
def test_what_a_middleware_gives_that_is_no_message_is_told_as_unreadable(way, gives):
    class Gives(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            return gives

        async def awrap_tool_call(self, request, handler):
            return gives

    made = agent(call("fails"), middleware=[wrap_tool_call(store=False), Gives()])
    done = made.invoke(ASKED) if way == "sync" else asyncio.run(made.ainvoke(ASKED))
    answers = [m for m in done["messages"] if isinstance(m, ToolMessage)]
    assert [(m.tool_call_id, m.status) for m in answers] == [("1", "error")]
    assert "answered with something unreadable" in answers[0].content
