"""The fixture's tools. A handler takes the request's context and the arguments."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Any, Callable

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

from content import AUDIO, IMAGE, ROOTS, STRING, asked, elicitation, embedded, form, said, sampling

BUS = InMemorySubscriptionBus()
_SECRET = secrets.token_bytes(32)


@dataclass
class Tool:
    description: str
    handle: Callable[..., Any]
    schema: dict = field(default_factory=lambda: {"type": "object", "properties": {}})


def declared(ctx):
    """The capabilities of the client: each modern request has its own."""
    return (ctx.params.get("_meta") or {}).get(types.CLIENT_CAPABILITIES_META_KEY) or {}


def missing(**capabilities):
    return MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "Missing capability", {"requiredCapabilities": capabilities})


def always(result):
    async def handle(_ctx, _arguments):
        return result

    return handle


async def logs(ctx, _):
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        # The SDK drops these where a modern client did not ask for them.
        await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)
        await anyio.sleep(0.05)
    return said("logged")


async def progresses(ctx, _):
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await anyio.sleep(0.05)
    return said("progressed")


async def samples(ctx, arguments):
    request = types.CreateMessageRequest.model_validate(sampling(arguments["prompt"]))
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    answer = await ctx.session.send_request(request, types.CreateMessageResult, metadata=related)
    return said(f"LLM response: {answer.content.text}")


def elicits(properties, message=None):
    async def handle(ctx, arguments):
        schema = {"type": "object", "properties": properties}
        answer = await ctx.session.elicit_form(message or arguments["message"], schema, ctx.request_id)
        return said(f"Elicitation completed: action={answer.action}, content={answer.content}")

    return handle


async def reconnects(ctx, _):
    """Over HTTP the client has to come back for the result."""
    if ctx.close_sse_stream:
        await ctx.close_sse_stream()
    await anyio.sleep(0.2)
    return said("reconnected")


async def needs_sampling(ctx, _):
    if "sampling" not in declared(ctx):
        raise missing(sampling={})
    return said("sampling is declared")


def changes(event):
    async def handle(_ctx, _arguments):
        await BUS.publish(event)
        return said("changed")

    return handle


def signed(step):
    return f"{step}.{hmac.new(_SECRET, step.encode(), hashlib.sha256).hexdigest()}"


def step_of(state):
    """The step that a client hands back, which must be one that was handed out."""
    step = state.partition(".")[0]
    if not hmac.compare_digest(state.encode(), signed(step).encode()):
        raise MCPError(types.INVALID_PARAMS, "requestState is not one of this server's")
    return step


def asks(requests, done, state=None):
    """Wants an answer to each of `requests` before it is done."""

    async def handle(ctx, _):
        answers = ctx.params.get("inputResponses") or {}
        if state and answers:
            step_of(ctx.params.get("requestState") or "")
        if requests.keys() <= answers.keys():
            return done(answers)
        return asked(requests, signed(state) if state else None)

    return handle


async def asks_in_rounds(ctx, _):
    state = ctx.params.get("requestState")
    step = step_of(state) if state else None
    if step is None:
        return asked({"step1": elicitation("Step 1: What is your name?", name=STRING)}, signed("first"))
    if step == "first":
        return asked({"step2": elicitation("Step 2: What is your favorite color?", color=STRING)}, signed("second"))
    return said("both answered")


async def asks_what_the_client_can(ctx, _):
    possible = {"elicitation": elicitation("Name?", name=STRING), "sampling": sampling("Hello?")}
    return asked({key: request for key, request in possible.items() if key in declared(ctx)})


NAME = {"user_name": elicitation("What is your name?", name=STRING)}
CONFIRM = {"confirm": elicitation("Please confirm", ok={"type": "boolean"})}
OPTIONS = [f"option{n}" for n in (1, 2, 3)]
TITLED = [{"const": f"value{n}", "title": f"Title {n}"} for n in (1, 2, 3)]
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
# Every keyword that a proxy was seen to lose.
WHOLE_VOCABULARY = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": STRING, "city": STRING}}},
    "properties": {
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"enum": ["phone", "email"]},
        "phone": STRING,
        "email": STRING,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
BY_HEADER = {"type": "object", "properties": {"region": STRING | {"x-mcp-header": "Region"}}}
MIXED = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
PLAIN = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")


def _greeting(answers):
    return said(f"Hello, {answers['user_name']['content']['name']}!")


# The suite calls the first one without arguments.
TOOLS = {
    "test_simple_text": Tool("says a text", always(said("This is a simple text response for testing."))),
    "test_image_content": Tool("shows an image", always(said(IMAGE))),
    "test_audio_content": Tool("plays a sound", always(said(AUDIO))),
    "test_embedded_resource": Tool("embeds a resource", always(said(PLAIN))),
    "test_multiple_content_types": Tool("has three kinds of content", always(said("Three kinds:", IMAGE, MIXED))),
    "test_error_handling": Tool("fails", always(said("This tool intentionally returns an error", isError=True))),
    "test_tool_with_logging": Tool("logs three times", logs),
    "test_logging_tool": Tool("logs three times", logs),
    "test_tool_with_progress": Tool("reports progress", progresses),
    "test_sampling": Tool("asks the client's model", samples, form(prompt=STRING)),
    "test_elicitation": Tool(
        "asks the user", elicits({"username": STRING, "email": STRING}), form(message=STRING)
    ),
    "test_elicitation_sep1034_defaults": Tool("asks with defaults", elicits(DEFAULTS, "Look through the defaults")),
    "test_elicitation_sep1330_enums": Tool("asks with enums", elicits(ENUMS, "Choose")),
    "test_reconnection": Tool("closes the stream before the result", reconnects),
    "json_schema_2020_12_tool": Tool("has a rich schema", always(said("valid")), WHOLE_VOCABULARY),
    "test_header_param": Tool("has an argument that is also a header", always(said("here")), BY_HEADER),
    "test_missing_capability": Tool("needs sampling", needs_sampling),
    "test_trigger_tool_change": Tool("changes the tools", changes(ToolsListChanged())),
    "test_trigger_prompt_change": Tool("changes the prompts", changes(PromptsListChanged())),
    "test_streaming_elicitation": Tool("asks for a name", asks(NAME, _greeting)),
    "test_input_required_result_elicitation": Tool("asks for a name", asks(NAME, _greeting)),
    "test_input_required_result_sampling": Tool(
        "asks the client's model",
        asks({"capital_question": sampling("What is the capital of France?")}, lambda _: said("answered")),
    ),
    "test_input_required_result_list_roots": Tool(
        "asks for the roots", asks({"client_roots": ROOTS}, lambda answers: said(str(answers["client_roots"])))
    ),
    "test_input_required_result_request_state": Tool(
        "asks with a state", asks(CONFIRM, lambda _: said("state-ok"), "confirm")
    ),
    "test_input_required_result_tampered_state": Tool(
        "asks with a state", asks(CONFIRM, lambda _: said("state-ok"), "confirm")
    ),
    "test_input_required_result_multiple_inputs": Tool(
        "asks for three things",
        asks(NAME | {"greeting": sampling("A greeting")} | {"client_roots": ROOTS}, _greeting, "three"),
    ),
    "test_input_required_result_multi_round": Tool("asks twice", asks_in_rounds),
    "test_input_required_result_capabilities": Tool("asks what it may", asks_what_the_client_can),
}
