"""Agents of three systems work by changing their imports."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from breakfall.compat import brynhild, llmproc, sidekick

# sidekick


def test_an_execution_error_names_tool_and_type():
    original = ValueError("Bad input")
    error = sidekick.ToolExecutionError("search", original, tool_input={"q": "x"})
    assert (error.tool_name, error.original_error, error.tool_input) == (
        "search",
        original,
        {"q": "x"},
    )
    assert error.error_type == "ValueError"
    assert error.message == str(error) == "Tool 'search' failed: ValueError"
    assert isinstance(error.timestamp, datetime)
    assert error.to_dict() == {
        "tool_name": "search",
        "error_type": "ValueError",
        "message": "Bad input",
        "timestamp": error.timestamp.isoformat(),
    }
    assert sidekick.ToolExecutionError("search", original, message="own").message == "own"


def test_five_lines_for_the_model():
    text = sidekick.format_tool_error_for_llm("search", "RateLimitError", "Too many requests")
    assert text == (
        "Tool Execution Failed\nTool: search\nError Type: RateLimitError\n"
        "Message: Too many requests\n\nThe tool failed and cannot be used for this request."
    )


def test_one_line_for_the_model_cut_at_five_hundred_characters():
    message = sidekick.create_tool_error_message("big", RuntimeError("x" * 1000), "call_1")
    assert message == ToolMessage(
        "[TOOL ERROR] big failed with RuntimeError: " + "x" * 500,
        tool_call_id="call_1",
        name="big",
        status="error",
    )


def test_no_secret_in_words_for_the_model():
    key = "sk-" + "ant-api03-" + "Zk3v" * 3 + "Qw8rTy6uIo2pLk9jHg4fDs1aZx7cVb5nMq" * 2 + "AA"
    url = "postgres://bob:" + "correct-horse" + "@db/main"
    for text in (
        sidekick.format_tool_error_for_llm("t", "E", f"connect to {url}"),
        sidekick.create_tool_error_message("t", RuntimeError(f"with {url}"), "1").content,
        str(sidekick.ToolExecutionError("t", RuntimeError(url)).to_dict()),
    ):
        assert "correct-horse" not in text
    assert key[:40] not in sidekick.format_tool_error_for_llm("t", "E", f"key {key}")


def test_a_registry_counts_and_gives_copies():
    registry = sidekick.ToolErrorRegistry()
    registry.record_error("search", ValueError("a"))
    registry.record_error("search", ValueError("b"))
    registry.record_error("search", TypeError("c"))
    registry.record_error("search_files", ValueError("d"))
    summary = registry.get_error_summary()
    assert summary == {"search:ValueError": 2, "search:TypeError": 1, "search_files:ValueError": 1}
    summary.clear()
    assert len(registry.get_error_summary()) == 3
    errors = registry.get_errors_for_tool("search")
    assert {key: [e["error_message"] for e in found] for key, found in errors.items()} == {
        "search:ValueError": ["a", "b"],
        "search:TypeError": ["c"],
    }
    errors["search:ValueError"].clear()
    errors["search:TypeError"][0]["error_message"] = "changed"
    assert registry.get_errors_for_tool("search")["search:TypeError"][0]["error_message"] == "c"


@tool
def bad_func() -> str:
    """Fails."""
    raise ValueError("Intentional error")


def test_its_node_is_called_as_a_function_and_speaks_its_words():
    assert sidekick.wrap_tool_with_error_handling(bad_func) is bad_func
    node = sidekick.ErrorHandlingToolNode(tools=[bad_func])
    assert node.tools["bad_func"] is bad_func
    asked = AIMessage("", tool_calls=[{"id": "call_bad", "name": "bad_func", "args": {}}])
    [message] = node({"messages": [asked]})["messages"]
    assert message.content == (
        "Tool Execution Failed\nTool: bad_func\nError Type: ValueError\n"
        "Message: Intentional error\n\nThe tool failed and cannot be used for this request."
    )
    assert message.tool_call_id == "call_bad"
    [entry] = node.tool_error_registry["bad_func"]
    assert (entry["error_type"], entry["error_message"]) == ("ValueError", "Intentional error")
    unknown = AIMessage("", tool_calls=[{"id": "1", "name": "nothing", "args": {}}])
    [message] = node({"messages": [unknown]})["messages"]
    assert message.content.startswith("Tool Execution Failed\nTool: nothing\n")
    assert node({"messages": []}) == {"messages": []}


# llmproc


def test_results_of_llmproc():
    assert llmproc.ToolResult.from_success("x") == llmproc.ToolResult("x", is_error=False)
    assert llmproc.ToolResult.from_error("no").to_dict() == {"content": "no", "is_error": True}
    assert llmproc.ToolResult({"a": 1}).to_dict() == {"content": '{"a": 1}', "is_error": False}
    assert llmproc.ToolResult().to_dict() == {"content": "", "is_error": False}


async def calculator(expression: str) -> Any:
    """Adds up."""
    if not expression:
        return llmproc.ToolResult.from_error("Missing expression")
    return llmproc.ToolResult.from_success(str(sum(map(int, expression.split("+")))))


def divide(a: int, b: int) -> float:
    """Divides."""
    return a / b


def called(manager, name, args=None):
    result = asyncio.run(manager.call_tool(name, args))
    assert isinstance(result, llmproc.ToolResult)
    return (result.content, result.is_error)


def test_a_manager_calls_and_never_raises():
    manager = llmproc.ToolManager().register_tools([calculator, divide])
    assert called(manager, "calculator", {"expression": "3+7"}) == ("10", False)
    assert called(manager, "calculator", {"expression": ""}) == ("Missing expression", True)
    assert called(manager, "divide", {"a": 1, "b": 2}) == (0.5, False)
    assert called(manager, "missing_tool") == ("This tool is not available", True)
    unexpected = "An unexpected error occurred while executing this tool"
    assert called(manager, "divide", {"a": 1, "b": 0}) == (unexpected, True)
    content, is_error = called(manager, "divide", {"a": "x"})
    assert is_error and content.startswith("Error: ") and "`b`" in content


def test_a_manager_enables_lists_and_knows_aliases():
    manager = llmproc.ToolManager()
    assert manager.register_tool("calc", calculator, {"name": "calc", "description": "Sums."})
    assert not manager.register_tool("calc", calculator)
    manager.register_tool(divide)
    manager.register_aliases({"sum": "calc"})
    assert manager.list_tools() == ["calc", "divide"]
    assert [schema["name"] for schema in manager.get_tool_schemas()] == ["sum", "divide"]
    assert called(manager, "sum", {"expression": "1+1"}) == ("2", False)
    manager.set_enabled_tools(["divide"])
    assert manager.list_tools() == ["divide"]
    assert called(manager, "sum", {"expression": "1+1"}) == ("This tool is not available", True)
    manager.enable("sum")
    assert called(manager, "calc", {"expression": "1+1"}) == ("2", False)
    manager.registry.disable(["calc"])
    manager.registry.enable(["calc"])
    assert manager.list_tools() == ["calc", "divide"]
    with pytest.raises(ValueError, match="nothing"):
        manager.enable("nothing")
    with pytest.raises(ValueError):
        manager.register_tools([calculator, 123])


def test_a_registry_gives_copies():
    registry = llmproc.ToolRegistry()
    registry.register_tool("one", divide, {"name": "one", "description": "1"})
    registry.get_definitions().append({})
    registry.list_tools().append("two")
    assert [d["name"] for d in registry.get_definitions()] == registry.list_tools() == ["one"]
    with pytest.raises(ValueError, match="not found"):
        registry.get_handler("two")


def test_rfc_015_lists_the_tools_that_exist():
    registry = llmproc.ToolRegistry(preset="llmproc-rfc015")
    registry.register_tool(divide)
    registry.register_tool(calculator)
    assert called(registry, "multiply") == (
        "Error: Tool 'multiply' not found.\n\nAvailable tools: calculator, divide\n\n"
        "Please try again with one of the available tools.",
        True,
    )


def test_a_result_is_the_tools_own_unless_a_secret_stands_in_it():
    token = "correct-horse-" + "battery"
    manager = llmproc.ToolManager(store=False, redact=token)
    results = [
        *(None, "", 0, 0.5, 2**70, {}, {"a": [1, "b"]}, {1, 2}, "plain", '{"a": 1}'),
        *(llmproc.ToolResult(content) for content in (None, "", 0, {}, {"a": 1}, "plain")),
    ]
    leaks = [f"it is {token}", {"a": [token]}, [token], "x" * 200_000]
    leaks += [llmproc.ToolResult(leak, abort_execution=True) for leak in leaks]

    @manager.registry.register_tool
    def give(at: int) -> Any:
        """Gives."""
        return [*results, *leaks][at]

    for at, value in enumerate(results):
        given = asyncio.run(manager.call_tool("give", {"at": at}))
        expected = value if isinstance(value, llmproc.ToolResult) else llmproc.ToolResult(value)
        assert given == expected and not given.is_error
    for at, value in enumerate(leaks, start=len(results)):
        given = asyncio.run(manager.call_tool("give", {"at": at}))
        assert token not in str(given.content) and len(given.content) < 110_000
        assert given.abort_execution is isinstance(value, llmproc.ToolResult)
        assert not given.is_error


# brynhild


class Read(brynhild.Tool):
    name = "Read"
    description = "Reads a file."
    input_schema = {"type": "object", "properties": {"path": {"type": "string"}}}

    async def execute(self, input: dict[str, Any]) -> brynhild.ToolResult:
        path = self._require_input(input, "path", label="file path")
        if isinstance(path, brynhild.ToolResult):
            return path
        if path == "half":
            return brynhild.ToolResult(success=False, output="first half", error="then it broke")
        return brynhild.ToolResult(success=True, output=open(path).read())


def executed(input: dict[str, Any]) -> brynhild.ToolResult:
    return asyncio.run(brynhild.ToolRegistry([Read()]).execute("Read", input))


def test_required_input_is_asked_for():
    tool = Read()
    missing = brynhild.ToolResult(success=False, output="", error="No file path provided")
    assert tool._require_input({}, "path", label="file path") == missing
    assert tool._require_input({"path": ""}, "path", label="file path") == missing
    assert tool._require_input({}, "path").error == "No path provided"
    assert tool._require_input({"path": "a"}, "path") == "a"


def test_every_call_has_a_result_of_three_fields(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("hello")
    assert executed({"path": str(file)}).to_dict() == {
        "success": True,
        "output": "hello",
        "error": None,
    }
    assert executed({}) == brynhild.ToolResult(False, "", "No file path provided")
    assert executed({"path": "half"}) == brynhild.ToolResult(False, "first half", "then it broke")
    failed = executed({"path": "/no/such/file"})
    assert (failed.success, failed.output) == (False, "")
    assert "/no/such/file" in failed.error
    unknown = asyncio.run(brynhild.ToolRegistry([Read()]).execute("Raed"))
    assert (unknown.success, bool(unknown.error)) == (False, True)


class Given(brynhild.Tool):
    name = "Given"
    description = "Answers with what it was made with."
    input_schema = {"type": "object"}

    def __init__(self, result: brynhild.ToolResult) -> None:
        self.result = result

    async def execute(self, input: dict[str, Any]) -> brynhild.ToolResult:
        return self.result


def given(*fields: Any, **options: Any) -> brynhild.ToolResult:
    tool = Given(brynhild.ToolResult(*fields))
    return asyncio.run(brynhild.ToolRegistry([tool], store=False, **options).execute("Given"))


def test_a_success_is_told_without_registered_secrets_and_bounded():
    token = "correct-horse-" + "battery"
    result = given(True, f"it is {token}", f"but {token} is old", redact=token)
    assert result.success and token not in f"{result}"
    assert len(given(True, "x" * 200_000).output) < 110_000


def test_what_is_no_text_is_written_as_one():
    assert given(True, {"a": 1}) == brynhild.ToolResult(True, '{"a": 1}')
    assert given(True, None) == brynhild.ToolResult(True, "")
    assert given(False, None, {"a": 1}) == brynhild.ToolResult(False, "", '{"a": 1}')
    assert given(False, None, None) == brynhild.ToolResult(False, "")


def test_definitions_for_providers():
    assert Read().to_api_format()["input_schema"] == Read.input_schema
    assert Read().to_openai_format()["function"]["parameters"] == Read.input_schema
