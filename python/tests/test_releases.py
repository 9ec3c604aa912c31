"""Releases of LangGraph: those that are accepted work, others are refused at import."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from nodes import call, node, run, ways

from breakfall import _prebuilt

#: LangGraph's node as 1.0.5 has it, where ours finds it.
OLD = """
from types import SimpleNamespace
from langgraph.prebuilt import tool_node
node, found = tool_node.ToolNode, tool_node._get_all_injected_args
inject = node._inject_tool_args
del node._normalize_tool_response
node._extract_state = lambda self, input: input
node._inject_tool_args = lambda self, call, runtime: inject(self, call, runtime)
def without_keys(tool):
    known = found(tool)
    return SimpleNamespace(state=known.state, store=known.store, runtime=known.runtime)
tool_node._get_all_injected_args = without_keys
"""

USE = """
import asyncio
from typing import Annotated
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.prebuilt import InjectedState, ToolRuntime
from langgraph.runtime import Runtime
from langgraph.types import Command
from breakfall.langgraph import ErrorHandlingToolNode
# The node itself is new, and needs what it finds.
tool_node._get_all_injected_args = found

@tool
def plain(q: int) -> str:
    "Says it."
    return f"{q}"

@tool
def state(q: int, state: Annotated[dict, InjectedState]) -> str:
    "Counts."
    return f"{q} of {len(state['messages'])}"

@tool
def runtime(q: int, runtime: ToolRuntime) -> str:
    "Says who called."
    return f"{q} by {runtime.tool_call_id}"

@tool
def command(q: int, id: Annotated[str, InjectedToolCallId]) -> Command:
    "Commands."
    return Command(update={"messages": [ToolMessage(f"{q} as ordered", tool_call_id=id)]})
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_a_node_works_where_langgraphs_has_fewer_helpers():
    code = """
known = ErrorHandlingToolNode([plain, state, runtime, command], store=False)
names = ["plain", "state", "runtime", "command"]
calls = [{"name": name, "args": {"q": n}, "id": f"c{n}"} for n, name in enumerate(names)]
config = {"configurable": {"__pregel_runtime": Runtime()}}
ask = {"messages": [AIMessage("", tool_calls=calls)]}
for came in (known.invoke(ask, config), asyncio.run(known.ainvoke(ask, config))):
    *said, ordered = came
    print([message.content for one in said for message in one["messages"]])
    print(ordered.update["messages"][0].content)
"""
    done = python(OLD + USE + code)
    assert done.stdout.splitlines() == ["['0', '1 of 1', '2 by c2']", "3 as ordered"] * 2, done


@pytest.mark.parametrize(
    "missing", ["tool_node._get_all_injected_args", "tool_node.ToolNode._inject_tool_args"]
)
def test_a_release_that_has_too_little_is_refused_at_import(missing: str):
    code = f"from langgraph.prebuilt import tool_node\ndel {missing}\nimport breakfall.langgraph"
    last = python(code).stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: breakfall.langgraph needs {_prebuilt.ACCEPTED}, ")


def test_a_release_with_more_than_is_known_is_refused():
    @dataclasses.dataclass
    class More:
        state: Any
        mood: str

    with pytest.raises(ImportError, match="`mood` of its runtime is not known"):
        _prebuilt.check(runtime=More)


def test_what_is_required_is_what_is_accepted():
    project = Path(__file__).parent.parent.joinpath("pyproject.toml").read_text()
    assert project.count(f'"{_prebuilt.ACCEPTED}"') == 2


@ways
def test_a_runtime_that_cannot_be_made_is_not_told_as_a_fault_of_the_tool(way: str):
    @tool
    def count(state: Annotated[dict, InjectedState]) -> int:
        """Counts."""
        return len(state)

    known = node(count)
    known._extract_state = lambda *_: known.no_such_helper
    with pytest.raises(AttributeError, match="no_such_helper"):
        run(known, call("count"), way=way)
