"""Nodes, tools and calls that the tests of the node share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException, tool
from langgraph.runtime import Runtime

from breakfall.langgraph import ErrorHandlingToolNode

CONFIG: RunnableConfig = {"configurable": {"__pregel_runtime": Runtime()}}

ways = pytest.mark.parametrize("way", ["sync", "async"])


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@tool
def fails(a: int = 0) -> str:
    """Fails."""
    raise LookupError("row 7 is not there")


@tool
async def afails() -> str:
    """Fails."""
    raise LookupError("row 7 is not there")


@tool
def told() -> str:
    """Says why it fails."""
    raise ToolException("the shop is closed on Sundays")


def node(*tools: Any, **options: Any) -> ErrorHandlingToolNode:
    options.setdefault("store", False)
    return ErrorHandlingToolNode(tools, **options)


def call(name: str, args: Any = None, id: str = "c1") -> dict[str, Any]:
    return {"name": name, "args": args or {}, "id": id, "type": "tool_call"}


def asks(*calls: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=list(calls))


def run(node: ErrorHandlingToolNode, *calls: dict[str, Any], way: str = "sync") -> list[Any]:
    state = {"messages": [asks(*calls)]}
    if way == "sync":
        return node.invoke(state, CONFIG)["messages"]
    return asyncio.run(node.ainvoke(state, CONFIG))["messages"]
