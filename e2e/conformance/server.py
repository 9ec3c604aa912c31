#!/usr/bin/env python3
"""A server with everything that the conformance suite asks for, in both eras of the protocol.

    e2e/conformance/server.py PORT      at http://127.0.0.1:PORT/mcp
    e2e/conformance/server.py --stdio

Names are the suite's. Results are plain dictionaries, as they go over the wire.
"""

import json
import logging
import re
import sys
import warnings

import anyio
import mcp_types as types
import uvicorn
from mcp.server.caching import CACHEABLE_METHODS, CacheHint
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from content import IMAGE, PNG, STRING, elicitation, embedded, text
from tasks import EXTENSION, METHODS, TASK_TOOLS
from tools import BUS, TOOLS, asks

RETRY_MS = 100
ALL_TOOLS = TOOLS | TASK_TOOLS
RESOURCES = {
    "test://static-text": ("text/plain", {"text": "This is the content of the static text resource."}),
    "test://static-binary": ("image/png", {"blob": PNG}),
    "test://watched-resource": ("text/plain", {"text": "It never changes."}),
}
TEMPLATE = re.compile(r"test://template/([^/]+)/data")


def user(*contents):
    return {"messages": [{"role": "user", "content": content} for content in contents]}


# A prompt: its arguments, and what it says with them.
PROMPTS = {
    "test_simple_prompt": ([], lambda _: user(text("This is a simple prompt for testing."))),
    "test_prompt_with_arguments": (
        ["arg1", "arg2"],
        lambda given: user(text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")),
    ),
    "test_prompt_with_embedded_resource": (
        ["resourceUri"],
        lambda given: user(embedded(given["resourceUri"], "text/plain", "Embedded."), text("Process it.")),
    ),
    "test_prompt_with_image": ([], lambda _: user(IMAGE, text("Please analyze the image above."))),
    "test_input_required_result_prompt": ([], None),
}
CONTEXT = {"user_context": elicitation("What context should the prompt use?", context=STRING)}


async def list_tools(_ctx, _):
    listed = [
        {"name": name, "description": tool.description, "inputSchema": tool.schema} for name, tool in ALL_TOOLS.items()
    ]
    return {"tools": listed}


async def call_tool(ctx, params):
    if params.name not in ALL_TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    return await ALL_TOOLS[params.name].handle(ctx, params.arguments or {})


async def list_resources(_ctx, _):
    described = [{"uri": uri, "name": uri, "description": uri, "mimeType": r[0]} for uri, r in RESOURCES.items()]
    return {"resources": described}


async def list_templates(_ctx, _):
    template = {"uriTemplate": "test://template/{id}/data", "name": "template", "description": "by id"}
    return {"resourceTemplates": [template]}


async def read_resource(_ctx, params):
    uri = str(params.uri)
    if uri in RESOURCES:
        kind, content = RESOURCES[uri]
    elif match := TEMPLATE.fullmatch(uri):
        kind, content = "application/json", {"text": json.dumps({"id": match[1]})}
    else:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return {"contents": [{"uri": uri, "mimeType": kind, **content}]}


async def list_prompts(_ctx, _):
    listed = [
        {"name": name, "description": name, "arguments": [{"name": a, "required": True} for a in arguments]}
        for name, (arguments, _) in PROMPTS.items()
    ]
    return {"prompts": listed}


async def get_prompt(ctx, params):
    if params.name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
    _, say = PROMPTS[params.name]
    if say is None:
        return await asks(CONTEXT, lambda answers: user(text(str(answers["user_context"]))))(ctx, {})
    return say(params.arguments or {})


async def complete(_ctx, _):
    return {"completion": {"values": ["paris", "park"], "total": 2, "hasMore": False}}


async def nothing(_ctx, _):
    return {}


class Events(EventStore):
    """What was sent on each stream, for clients that come back. Ids are places in the list."""

    def __init__(self):
        self.sent = []

    async def store_event(self, stream_id, message):
        self.sent.append((stream_id, message))
        return str(len(self.sent) - 1)

    async def replay_events_after(self, last_event_id, send_callback):
        last = int(last_event_id)
        stream = self.sent[last][0]
        for place, (of, message) in enumerate(self.sent[last + 1 :], last + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(place)))
        return stream


def whole(handler):
    """The SDK says of its own types what kind of result they are, but not of dictionaries."""

    async def handle(ctx, params):
        kind = {"resultType": "complete"} if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else {}
        return kind | await handler(ctx, params)

    return handle


def server():
    # That logging and subscribing are old is the point.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    logging.basicConfig(level=logging.ERROR)
    it = Server(
        "conformance-fixture",
        version="1.0.0",
        cache_hints=dict.fromkeys(CACHEABLE_METHODS, CacheHint(ttl_ms=1000, scope="public")),
        on_list_tools=whole(list_tools),
        on_call_tool=whole(call_tool),
        on_list_resources=whole(list_resources),
        on_list_resource_templates=whole(list_templates),
        on_read_resource=whole(read_resource),
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_list_prompts=whole(list_prompts),
        on_get_prompt=whole(get_prompt),
        on_completion=whole(complete),
        on_set_logging_level=nothing,
        on_subscriptions_listen=ListenHandler(BUS),
    )
    for method, handler in METHODS.items():
        it.add_request_handler(method, types.RequestParams, handler)
    it.extensions = {EXTENSION: {}}
    return it


async def over_stdio():
    it = server()
    async with stdio_server() as (reader, writer):
        await it.run(reader, writer, it.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1:] == ["--stdio"]:
        anyio.run(over_stdio)
    else:
        app = server().streamable_http_app(event_store=Events(), retry_interval=RETRY_MS)
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", timeout_graceful_shutdown=1)
