"""Whoever traces is found as LangChain finds him."""

from __future__ import annotations

import contextlib
import functools
from typing import Any
from unittest import mock

import pytest
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_core.tracers.context import tracing_v2_enabled
from langsmith import Client, RunTree, run_helpers, utils
from langsmith._internal import _context
from nodes import add, call, node, run

from breakfall import _listening
from breakfall._listening import is_heard


@pytest.fixture(autouse=True)
def the_environment_is_read_anew():
    utils.get_env_var.cache_clear()
    yield
    utils.get_env_var.cache_clear()


@pytest.mark.parametrize(
    ("variable", "is_traced"),
    [("LANGSMITH_TRACING", True), ("LANGCHAIN_TRACING_V2", True), ("LANGCHAIN_TRACING", True)],
)
def test_the_environment_may_ask_for_traces(monkeypatch, variable, is_traced):
    assert not is_heard({})
    monkeypatch.setenv(variable, "true")
    utils.get_env_var.cache_clear()
    assert is_heard({}) == is_traced


def test_a_context_may_ask_for_traces(monkeypatch):
    with run_helpers.tracing_context(enabled=True):
        assert is_heard({})
    assert not is_heard({})
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    utils.get_env_var.cache_clear()
    with run_helpers.tracing_context(enabled=False):
        assert not is_heard({})
    assert is_heard({})


def test_a_program_may_ask_for_traces(monkeypatch):
    monkeypatch.setattr(_context, "_GLOBAL_TRACING_ENABLED", True)
    assert is_heard({})


@pytest.mark.parametrize("way", ["a tracer", "a run"])
def test_who_traces_already_hears_of_tools(way):
    client: Any = Client(api_key="none", auto_batch_tracing=False)
    within: Any = contextlib.ExitStack()
    with within:
        if way == "a tracer":
            within.enter_context(tracing_v2_enabled(client=client))
        else:
            parent = RunTree(name="run", client=client)
            within.enter_context(run_helpers.tracing_context(parent=parent))
        assert is_heard({})
    assert not is_heard({})


@tool
async def aadd(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@pytest.mark.parametrize(
    ("of", "name"),
    [
        (BaseTool, "invoke"),
        (BaseTool, "run"),
        (StructuredTool, "_run"),
        (BaseTool, "ainvoke"),
        (StructuredTool, "ainvoke"),
        (BaseTool, "arun"),
        (StructuredTool, "_arun"),
        (StructuredTool, "run"),
    ],
)
def test_who_wraps_langchains_own_functions_sees_every_call(of, name):
    is_async = name in ("ainvoke", "arun", "_arun")
    known, asked = node(add, aadd), {"a": 1, "b": 2}
    seen: list[str] = []
    own = getattr(of, name)

    @functools.wraps(own)
    def wrapped(self: Any, *args: Any, **more: Any) -> Any:
        seen.append(name)
        return own(self, *args, **more)

    with mock.patch.object(of, name, wrapped):
        if is_async:
            [message] = run(known, call("aadd", asked), way="async")
        else:
            [message] = run(known, call("add", asked))
    assert (seen, message.content) == ([name], "3")


def test_what_others_put_in_langchains_place_before_is_none_of_its_own():
    own = BaseTool.run

    @functools.wraps(own)
    def wrapped(self: Any, *args: Any, **more: Any) -> Any:
        return own(self, *args, **more)

    with mock.patch.object(BaseTool, "run", wrapped):
        known = [known for _, name, known in _listening._ways() if name == "run"]
    assert wrapped not in known and own not in known
    assert own in [known for _, name, known in _listening._WAYS if name == "run"]
