"""The ways to run a tool call that are measured: ours, and what people use instead.

Each way takes its calls as its users hand them over, and answers them as it answers a model. A tool
adds two numbers, or finds that there is no such row.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator
from datetime import datetime, timezone
from typing import Any

import fastmcp
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.exceptions import ToolFailedError
from pydantic_ai.messages import ToolCallPart, ToolReturnPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RunUsage

from breakfall.langgraph import ErrorHandlingToolNode

#: Every call has arguments and a run of its own: one that failed before would be refused.
numbers = itertools.count()


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def aadd(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def later(a: int, b: int) -> int:
    """Adds two numbers when everybody else had a turn."""
    await asyncio.sleep(0)
    return a + b


def find(a: int, b: int) -> int:
    """Finds nothing."""
    raise LookupError(f"there is no row {a} in the table")


async def afind(a: int, b: int) -> int:
    """Finds nothing."""
    raise LookupError(f"there is no row {a} in the table")


FUNCTIONS = (add, aadd, later, find, afind)


class Way:
    """A way to run calls."""

    name: str

    def given(self, tool: str, calls: int) -> Any:
        """What is handed over for so many calls. It is made before the clock runs."""
        raise NotImplementedError

    async def arun(self, given: Any) -> Any:
        """Answers the calls, for a caller with an event loop."""
        raise NotImplementedError

    def run(self, given: Any, loop: asyncio.AbstractEventLoop) -> Any:
        """Answers the calls, for a caller that waits. Where nothing else is offered, it runs the
        event loop for that."""
        return loop.run_until_complete(self.arun(given))

    def failures(self, answer: Any) -> list[bool]:
        """Which of the calls were answered as failures."""
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """While the way is measured."""
        yield


def arguments() -> dict[str, int]:
    return {"a": next(numbers), "b": 2}


class Node(Way):
    """A tool node, called as a graph calls it."""

    config: Any = {"configurable": {"__pregel_runtime": Runtime()}}

    def __init__(self, name: str, node: ToolNode) -> None:
        self.name = name
        self.node = node

    def given(self, tool: str, calls: int) -> Any:
        asked = [{"name": tool, "args": arguments(), "id": str(at)} for at in range(calls)]
        said = HumanMessage("go", id=str(next(numbers)))
        return {"messages": [said, AIMessage("", tool_calls=asked)]}

    async def arun(self, given: Any) -> Any:
        return await self.node.ainvoke(given, self.config)

    def run(self, given: Any, loop: asyncio.AbstractEventLoop) -> Any:
        return self.node.invoke(given, self.config)

    def failures(self, answer: Any) -> list[bool]:
        return [message.status == "error" for message in answer["messages"]]


def ours() -> Node:
    """Our node, as it comes but for the database."""
    return Node("breakfall", ErrorHandlingToolNode([tool(f) for f in FUNCTIONS], store=False))


def langgraph() -> Node:
    """LangGraph's own, told to answer exceptions: it would end the run."""
    return Node("langgraph", ToolNode([tool(f) for f in FUNCTIONS], handle_tool_errors=True))


class PydanticAi(Way):
    """What an agent of Pydantic AI calls when its model has answered: `ToolManager.handle_call`,
    for several calls side by side. An exception would end its run, so that its tools raise what
    tells the model, and the answer is made of that as the agent makes it."""

    name = "pydantic-ai"

    def __init__(self) -> None:
        def find(a: int, b: int) -> int:
            """Finds nothing."""
            raise ToolFailed(f"there is no row {a} in the table")

        async def afind(a: int, b: int) -> int:
            """Finds nothing."""
            raise ToolFailed(f"there is no row {a} in the table")

        self.tools: FunctionToolset[None] = FunctionToolset([add, aadd, find, afind])
        self.manager: ToolManager[None] | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        context = RunContext[None](deps=None, model=TestModel(), usage=RunUsage())
        self.manager = await ToolManager(self.tools).for_run_step(context)
        yield

    def given(self, tool: str, calls: int) -> Any:
        return [ToolCallPart(tool, arguments(), str(at)) for at in range(calls)]

    async def arun(self, given: Any) -> Any:
        if len(given) == 1:
            return [await self.one(given[0])]
        return await asyncio.gather(*map(self.one, given))

    async def one(self, call: ToolCallPart) -> ToolReturnPart:
        try:
            value = await self.manager.handle_call(call)
        except ToolFailedError as error:
            return error.tool_failed
        return ToolReturnPart(call.tool_name, value, call.tool_call_id)

    def failures(self, answer: Any) -> list[bool]:
        return [part.outcome == "failed" for part in answer]


class FastMcp(Way):
    """A client of FastMCP's and its server, in memory. What it logs of failures by default can be
    switched off."""

    def __init__(self, name: str, *, logs: bool) -> None:
        self.name = name
        self.level = logging.INFO if logs else logging.CRITICAL + 1
        server = fastmcp.FastMCP("bench")
        for function in (add, aadd, find, afind):
            server.tool(function)
        self.client = fastmcp.Client(server)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with self.client:
            yield

    def given(self, tool: str, calls: int) -> Any:
        logging.getLogger("fastmcp").setLevel(self.level)
        return [(tool, arguments()) for _ in range(calls)]

    async def arun(self, given: Any) -> Any:
        call = self.client.call_tool
        if len(given) == 1:
            return [await call(*given[0], raise_on_error=False)]
        return await asyncio.gather(*(call(*one, raise_on_error=False) for one in given))

    def failures(self, answer: Any) -> list[bool]:
        return [result.is_error for result in answer]


class DictAndTry(Way):
    """The design this grew from: functions in a dictionary, `try`, and a list of errors that only
    grows. One call after the other; coroutines side by side."""

    name = "dict and try"

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {f.__name__: f for f in FUNCTIONS}
        self.errors: list[dict[str, str]] = []

    def given(self, tool: str, calls: int) -> Any:
        return [(tool, arguments(), str(at)) for at in range(calls)]

    def run(self, given: Any, loop: asyncio.AbstractEventLoop) -> Any:
        return [self.one(*call) for call in given]

    async def arun(self, given: Any) -> Any:
        if len(given) == 1:
            return [await self.aone(*given[0])]
        return await asyncio.gather(*(self.aone(*call) for call in given))

    def one(self, name: str, arguments: dict[str, Any], id: str) -> dict[str, str]:
        try:
            value = self.functions[name](**arguments)
        except Exception as error:
            return self.failed(name, error, id)
        return {"role": "tool", "tool_call_id": id, "content": str(value), "status": "success"}

    async def aone(self, name: str, arguments: dict[str, Any], id: str) -> dict[str, str]:
        try:
            value = await self.functions[name](**arguments)
        except Exception as error:
            return self.failed(name, error, id)
        return {"role": "tool", "tool_call_id": id, "content": str(value), "status": "success"}

    def failed(self, name: str, error: Exception, id: str) -> dict[str, str]:
        kind, message = type(error).__name__, str(error)
        at = datetime.now(timezone.utc).isoformat()
        self.errors.append(
            {"tool": name, "error_type": kind, "error_message": message, "timestamp": at}
        )
        text = f"[TOOL ERROR] {name} failed with {kind}: {message}"
        return {"role": "tool", "tool_call_id": id, "content": text, "status": "error"}

    def failures(self, answer: Any) -> list[bool]:
        return [message["status"] == "error" for message in answer]
