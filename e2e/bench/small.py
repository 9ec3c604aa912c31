#!/usr/bin/env python3
"""An echo tool with nothing around it: a server that answers in the time of one line, and of which
fifty fit on any machine.

    e2e/bench/small.py
"""

import json
import sys

TOOL = {
    "name": "echo",
    "description": "Says it again.",
    "inputSchema": {
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    },
}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"Echo: {params['arguments']['message']}"}]}
    return {}


for line in sys.stdin.buffer:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params") or {})
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, separators=(",", ":"))
        sys.stdout.buffer.write(body.encode() + b"\n")
        sys.stdout.buffer.flush()
