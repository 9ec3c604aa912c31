"""An MCP server of both eras that starts late. How it is spoken to first decides how it speaks for
the rest of its life."""

import json
import sys
import time

time.sleep(float(sys.argv[2]))
era = None


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if id is None:
        continue
    era = era or ("legacy" if method == "initialize" else "modern")
    name = {"name": "both", "version": "1"}
    if (method == "initialize") != (era == "legacy") and method in ("initialize", "server/discover"):
        send(id=id, error={"code": -32022, "message": "the other handshake was made"})
    elif method == "initialize":
        send(id=id, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": name})
    elif method == "server/discover":
        send(
            id=id,
            result={
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": name},
            },
        )
    elif method == "tools/list":
        send(id=id, result={"resultType": "complete", "tools": [{"name": "era", "inputSchema": {"type": "object"}}]})
    else:
        send(id=id, result={"resultType": "complete", "content": [{"type": "text", "text": era}]})
