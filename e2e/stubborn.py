#!/usr/bin/env python3
"""A server that answers, and goes neither when its input ends nor when it is told to."""

import json
import signal
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
TOOLS = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stubborn", "version": "1"},
        },
        "tools/list": TOOLS,
        "tools/call": {"content": [{"type": "text", "text": "echo"}]},
    }.get(asked["method"])
    answer = {"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
while True:
    time.sleep(60)
