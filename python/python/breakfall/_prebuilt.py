"""What LangGraph's own node does for ours. It is private there and differs between releases: what a
release has is found out once, here, and one that has too little is refused when it is imported."""

from __future__ import annotations

import dataclasses
import inspect
from importlib.metadata import PackageNotFoundError, version
from typing import Any, get_type_hints

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.tools.base import _is_injected_arg_type, get_all_basemodel_annotations

#: The releases that are known to have what is needed, as `pyproject.toml` asks for them.
ACCEPTED = "langgraph-prebuilt>=1.0.5"


def misfit(what: object) -> ImportError:
    """The error that tells which releases are accepted."""
    try:
        installed = f"langgraph-prebuilt {version('langgraph-prebuilt')}"
    except PackageNotFoundError:
        installed = "none"
    return ImportError(f"breakfall.langgraph needs {ACCEPTED}, {installed} is installed: {what}")


try:
    from langgraph.prebuilt.tool_node import (
        ToolCallRequest,
        ToolInvocationError,
        ToolNode,
        ToolRuntime,
        _filter_validation_errors,
        _get_all_injected_args,
        _infer_handled_types,
        msg_content_output,
    )
    from langgraph.types import Command
except ImportError as error:
    raise misfit(error) from error

__all__ = ["ToolCallRequest", "ToolInvocationError", "ToolNode", "ToolRuntime"]

#: What is called or stood in for, and how many arguments it is given beside the node.
_USED = {
    "_func": 3,
    "_afunc": 3,
    "_run_one": 3,
    "_arun_one": 3,
    "_parse_input": 1,
    "_combine_tool_outputs": 2,
    "_validate_tool_command": 3,
}

#: What a tool's runtime may have beside what it always had.
_OF_THE_RUN = ("execution_info", "server_info")

#: What is known to put into a tool's runtime.
_GIVEN = {
    *("state", "tool_call_id", "config", "context", "store", "stream_writer", "tools"),
    *_OF_THE_RUN,
}


def takes(name: str, count: int, of: Any = ToolNode) -> bool:
    """Whether the node has a method that takes so many arguments."""
    method = getattr(of, name, None)
    if method is None:
        return False
    try:
        inspect.signature(method).bind(*range(count + 1))
    except TypeError:
        return False
    return True


def check(node: Any = ToolNode, runtime: Any = ToolRuntime) -> None:
    """Refuses a release that cannot be stood in for: a model must not hear of it call by call."""
    for name, count in _USED.items():
        if not takes(name, count, node):
            raise misfit(f"its node has no `{name}` that is known")
    if not (takes("_extract_state", 1, node) or takes("_extract_state", 2, node)):
        raise misfit("its node has no `_extract_state` that is known")
    if not (takes("_inject_tool_args", 2, node) or takes("_inject_tool_args", 3, node)):
        raise misfit("its node has no `_inject_tool_args` that is known")
    for field in dataclasses.fields(runtime):
        is_optional = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        if field.name not in _GIVEN and not is_optional:
            raise misfit(f"`{field.name}` of its runtime is not known")


check()

_fields = {field.name for field in dataclasses.fields(ToolRuntime)}
_of_the_run = [name for name in _OF_THE_RUN if name in _fields]
_has_tools = "tools" in _fields
_state_needs_config = takes("_extract_state", 2)
_injects_into_any_tool = takes("_inject_tool_args", 3)
_normalizes = takes("_normalize_tool_response", 3)

handled_types = _infer_handled_types


class Injected:
    """What a tool is given and a model cannot give."""

    def __init__(self, tool: BaseTool) -> None:
        self._known = _get_all_injected_args(tool)
        keys = getattr(self._known, "all_injected_keys", None)
        self.names = frozenset(_names(tool) if keys is None else keys)
        self.is_any = bool(self.names or self._known.runtime)

    def errors(self, error: Any) -> Any:
        """What is wrong with arguments, without those that are injected."""
        return _filter_validation_errors(error, self._known)


def _names(tool: BaseTool) -> set[str]:
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    hints = get_type_hints(function, include_extras=True) if function else {}
    hints |= get_all_basemodel_annotations(tool.get_input_schema())
    return {name for name, hint in hints.items() if _is_injected_arg_type(hint)}


def runtime_of(node: Any, input: Any, id: str, config: Any, runtime: Any) -> ToolRuntime:
    """What LangGraph injects into a tool as its runtime."""
    given: dict[str, Any] = {name: getattr(runtime, name, None) for name in _of_the_run}
    if _has_tools:
        given["tools"] = list(node.tools_by_name.values())
    if _state_needs_config:
        state = node._extract_state(input, config)
    else:
        state = node._extract_state(input)
    return ToolRuntime(
        state=state,
        tool_call_id=id,
        config=config,
        context=runtime.context,
        store=runtime.store,
        stream_writer=runtime.stream_writer,
        **given,
    )


def injected_call(node: Any, call: Any, runtime: Any, tool: BaseTool, injected: Injected) -> Any:
    """The call with what is injected, and nothing in its place that a model made up."""
    given = {name: value for name, value in call["args"].items() if name not in injected.names}
    call = {**call, "args": given}
    if _injects_into_any_tool:
        return node._inject_tool_args(call, runtime, tool)
    return node._inject_tool_args(call, runtime)


def normalized(node: Any, response: Any, call: Any, input_type: Any) -> Any:
    """What a tool returned, looked at as LangGraph does."""
    if _normalizes:
        return node._normalize_tool_response(response, call, input_type)
    if isinstance(response, Command):
        return node._validate_tool_command(response, call, input_type)
    if isinstance(response, ToolMessage):
        content: Any = msg_content_output(response.content)
        response.content = content
        return response
    raise TypeError(f"Tool {call['name']} returned unexpected type: {type(response)}")
