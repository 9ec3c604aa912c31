#!/usr/bin/env python3
"""An echo tool as people write it with the Python SDK, over standard input and output or HTTP.

    e2e/bench/echo.py [PORT]
"""

import sys

from mcp.server import MCPServer

server = MCPServer("echo", log_level="ERROR")


@server.tool()
def echo(message: str) -> str:
    return f"Echo: {message}"


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run()
