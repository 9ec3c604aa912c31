"""A LangChain tool as the guard calls it, with what LangGraph injects."""

from __future__ import annotations

import functools
import inspect
from typing import Any, NoReturn

import pydantic
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools.base import (
    InjectedToolCallId,
    _is_injected_arg_type,
    get_all_basemodel_annotations,
)

from ._accepts import Accepts, _get_runnable_config_param
from ._answers import heard
from ._failure import Failure
from ._message import returned
from ._prebuilt import (
    Injected,
    ToolInvocationError,
    ToolRuntime,
    injected_call,
    normalized,
    runtime_of,
)
from ._schema import refusal
from ._turns import Turn
from ._work import awaited

try:
    from langgraph.errors import is_invalid_resume as is_invalid_resume
except ImportError:

    def is_invalid_resume(error: BaseException) -> bool:
        return False


class Unanswered(Exception):
    """What no model can do anything about, and no tool did: it goes on upwards as it is. An answer
    that an interrupt does not accept is for who gave it, the rest for a developer."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def is_unwritten(error: BaseException) -> bool:
    """Whether a middleware was never written for calls of this kind, with or without an event
    loop: for its developer, and nothing that a model can do anything about."""
    if not isinstance(error, NotImplementedError):
        return False
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code.co_name in ("wrap_tool_call", "awrap_tool_call")


class Asked:
    """What goes with a call to its tool."""

    __slots__ = (
        "call",
        "config",
        "heard",
        "input",
        "input_type",
        "made",
        "node",
        "raises",
        "runtime",
        "tool",
        "turn",
    )

    def __init__(
        self,
        node: Any,
        call: Any,
        tool: Tool | None,
        input: Any,
        input_type: Any,
        config: Any,
        runtime: Any,
    ) -> None:
        self.node = node
        # What LangChain needs is there, though it may be empty.
        self.call = call if call.get("id") else {**call, "id": ""}
        self.tool = tool
        self.input = input
        self.input_type = input_type
        self.config = config
        self.runtime = runtime
        self.made: ToolRuntime | None = None
        self.heard = True
        self.turn: Turn | None = None
        #: What came of the call elsewhere, for the guard to hear.
        self.raises: Exception | None = None

    def tool_runtime(self) -> Any:
        """What LangGraph injects into tools."""
        if self.made is None:
            id, config = self.call["id"], self.config
            try:
                self.made = runtime_of(self.node, self.input, id, config, self.runtime)
            except Exception as error:
                # It is between LangGraph and us: the tool has not even begun.
                raise Unanswered(error) from error
        return self.made


class Tool:
    """A LangChain tool, with what is known of it without calling it."""

    def __init__(self, node: Any, tool: BaseTool) -> None:
        self.node = node
        self.tool = tool
        self.injected = Injected(tool)
        self.has_function = self.has_coroutine = True
        if isinstance(tool, StructuredTool):
            self.has_function = tool.func is not None
            self.has_coroutine = tool.coroutine is not None
        self.plain = _Plain.of(tool)
        #: What the guard asks of arguments that its schema refuses.
        self.accepts: Accepts | None = None
        self._args_schema = getattr(tool, "args_schema", None)
        self._fields = dict(vars(tool)) if self.plain is not None else {}

    def is_as_seen(self) -> bool:
        """Whether what is known of the tool still holds. Who is tested is given other functions,
        and anybody may set a field."""
        tool = self.tool
        if self.plain is None:
            return self._has_shape_of(tool)
        # What stands for a function may claim to be equal to it.
        fields = vars(tool)
        if fields["func"] is not self.plain.function:
            return False
        if fields["coroutine"] is not self.plain.coroutine:
            return False
        try:
            # What is the same object is not compared, and nothing is made for that.
            return fields == self._fields
        except Exception:  # noqa: BLE001 - it may be anybody's code
            return False

    def _has_shape_of(self, tool: Any) -> bool:
        if getattr(tool, "args_schema", None) is not self._args_schema:
            return False
        if not isinstance(tool, StructuredTool):
            return True
        has_function, has_coroutine = tool.func is not None, tool.coroutine is not None
        return self.has_function is has_function and self.has_coroutine is has_coroutine

    def follows(self, before: Tool) -> bool:
        """Takes the place of a tool, where the guard can go on with what it knows by the name."""
        accepts = before.accepts
        ways = (before.has_function, before.has_coroutine)
        if accepts is None or ways != (self.has_function, self.has_coroutine):
            return False
        if not accepts.is_for(self.tool):
            return False
        accepts.go_on_with(self.tool)
        self.accepts = accepts
        return True

    def run(self, arguments: dict[str, Any], asked: Asked) -> Any:
        """Runs the tool for a caller that waits."""
        if asked.raises is not None:
            raise asked.raises
        if asked.turn is None:
            return self._run(arguments, asked)
        with asked.turn:
            return self._run(arguments, asked)

    def arun(self, arguments: dict[str, Any], asked: Asked) -> Any:
        """What runs the tool on the event loop."""
        if asked.raises is not None:
            raise asked.raises
        run = self._arun if asked.turn is None else self._arun_in_turn
        return run(arguments, asked)

    def _run(self, arguments: dict[str, Any], asked: Asked) -> Any:
        used = asked.tool or self
        call = used.injected_call(arguments, asked)
        try:
            if used.plain is not None and used.plain.function is not None and not asked.heard:
                response = used.plain.run(call, asked.config)
            else:
                response = used.tool.invoke({**call, "type": "tool_call"}, asked.config)
        except pydantic.ValidationError as error:
            used.refuse(error, asked)
        return used.output(response, asked)

    async def _arun_in_turn(self, arguments: dict[str, Any], asked: Asked) -> Any:
        with asked.turn:  # type: ignore[union-attr]
            return await self._arun(arguments, asked)

    async def _arun(self, arguments: dict[str, Any], asked: Asked) -> Any:
        used = asked.tool or self
        call = used.injected_call(arguments, asked)
        try:
            plain = used.plain
            if plain is not None and plain.coroutine is not None and not asked.heard:
                given = plain.given(call, plain.coroutine, asked.config)
                token = var_child_runnable_config.set(asked.config)
                try:
                    response = plain.formatted(await plain.coroutine(**given), call["id"])
                finally:
                    var_child_runnable_config.reset(token)
            else:
                response = await used.tool.ainvoke({**call, "type": "tool_call"}, asked.config)
        except pydantic.ValidationError as error:
            used.refuse(error, asked)
        return used.output(response, asked)

    def injected_call(self, arguments: dict[str, Any], asked: Asked) -> Any:
        call = asked.call
        if arguments is not call.get("args"):
            call = {**call, "args": arguments}
        if not self.injected.is_any:
            return call
        return injected_call(asked.node, call, asked.tool_runtime(), self.tool, self.injected)

    def refuse(self, error: pydantic.ValidationError, asked: Asked) -> NoReturn:
        """Says what the tool finds wrong with its arguments, without what was injected."""
        if is_invalid_resume(error):
            raise Unanswered(error)
        kept = self.injected.errors(error)
        call = asked.call
        known = ToolInvocationError(call["name"], error, call["args"], kept)
        known.__cause__ = error
        raise refusal(error, self.injected.names) from known

    def output(self, response: Any, asked: Asked) -> Any:
        try:
            answer = normalized(asked.node, response, asked.call, asked.input_type)
        except (TypeError, ValueError) as error:
            failure = Failure(kind="invalid_output")
            failure._is_translated = True
            raise failure from error
        return heard(answer, asked.call["id"], asked.node._messages_key)


def waited_for(tool: Any) -> Any:
    """A tool for a caller that has no event loop: what only its coroutine does is waited for."""
    if not isinstance(tool, StructuredTool) or tool.func is not None or tool.coroutine is None:
        return tool
    coroutine = tool.coroutine

    # With its signature: LangChain looks at it for what it hands over.
    @functools.wraps(coroutine)
    def function(*args: Any, **given: Any) -> Any:
        return awaited(coroutine(*args, **given))

    return tool.model_copy(update={"func": function})


class _Plain:
    """A tool that is a function and nothing else. Where nobody hears of it, it is called as one:
    LangChain's way of calling takes longer than most tools."""

    __slots__ = (
        "artifact",
        "config_of",
        "coroutine",
        "fields",
        "function",
        "id_fields",
        "injected",
        "model",
        "name",
    )

    @classmethod
    def of(cls, tool: BaseTool) -> _Plain | None:
        model = getattr(tool, "args_schema", None)
        if (
            _get_runnable_config_param is None
            or type(tool) is not StructuredTool
            or not hasattr(tool, "_injected_args_keys")
            or tool.callbacks is not None
            or tool.verbose
            or tool.handle_tool_error
            or tool.handle_validation_error
            or not isinstance(model, type)
            or not issubclass(model, pydantic.BaseModel)
            or model.model_config.get("extra") == "allow"
            or model.model_computed_fields
            or issubclass(model, pydantic.RootModel)
            or _is_written_otherwise(model)
        ):
            return None
        for function in (tool.func, tool.coroutine):
            if function is not None and not _is_plain(function, model):
                return None
        return cls(tool, model)

    def __init__(self, tool: StructuredTool, model: type[pydantic.BaseModel]) -> None:
        self.name = tool.name
        self.model = model
        self.function: Any = tool.func
        self.coroutine: Any = tool.coroutine
        self.artifact = tool.response_format == "content_and_artifact"
        self.fields = [
            (name, field.is_required() or name in ("args", "kwargs"))
            for name, field in model.model_fields.items()
            if not field.exclude
        ]
        self.id_fields = [
            name
            for name, hint in get_all_basemodel_annotations(model).items()
            if _is_injected_arg_type(hint, injected_type=InjectedToolCallId)
        ]
        self.injected = sorted(tool._injected_args_keys)
        self.config_of = {
            function: _get_runnable_config_param(function)
            for function in (tool.func, tool.coroutine)
            if function is not None
        }

    def run(self, call: Any, config: Any) -> Any:
        given = self.given(call, self.function, config)
        token = var_child_runnable_config.set(config)
        try:
            response = self.function(**given)
            if hasattr(response, "__await__"):
                response = awaited(response)
            return self.formatted(response, call["id"])
        finally:
            var_child_runnable_config.reset(token)

    def given(self, call: Any, function: Any, config: Any) -> dict[str, Any]:
        """The arguments as the function expects them."""
        # A copy: a validator may write into it, and the model's own message stays as it is.
        arguments = {**call["args"]}
        for name in self.id_fields:
            arguments[name] = call["id"]
        given: dict[str, Any] = {}
        if self.fields:
            checked = self.model.model_validate(arguments)
            provided = checked.__pydantic_fields_set__
            for name, is_only_given in self.fields:
                if not is_only_given or name in provided or name in arguments:
                    given[name] = getattr(checked, name)
            for name in self.injected:
                if name in arguments:
                    given[name] = arguments[name]
                elif name == "tool_call_id":
                    given[name] = call["id"]
        parameter = self.config_of[function]
        if parameter:
            given[parameter] = config
        return given

    def formatted(self, response: Any, id: str) -> Any:
        artifact = None
        if self.artifact:
            if not isinstance(response, tuple) or len(response) != 2:
                error = ValueError(
                    f"`{self.name}` returns content and artifact, and gave {type(response)}"
                )
                failure = Failure(kind="invalid_output")
                failure._is_translated = True
                raise failure from error
            response, artifact = response
        return returned(response, artifact, self.name, id)


def _is_written_otherwise(model: type[pydantic.BaseModel]) -> bool:
    """Whether LangChain, which goes by what a model writes, finds other fields than it has."""
    return bool(
        model.__pydantic_decorators__.model_serializers
        or any(getattr(field, "exclude_if", None) for field in model.model_fields.values())
    )


def _is_plain(function: Any, model: type[pydantic.BaseModel]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    # What LangChain hands over under these names is never the model's to give.
    names = {*parameters, *model.model_fields} - {_get_runnable_config_param(function)}
    return not {"callbacks", "run_manager", "config"} & names
