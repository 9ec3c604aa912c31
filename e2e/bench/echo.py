#!/usr/bin/env python3
"""An echo tool as people write it with the Python SDK, over standard input and output."""

from mcp.server import MCPServer

server = MCPServer("echo", log_level="ERROR")


@server.tool()
def echo(message: str) -> str:
    return f"Echo: {message}"


server.run()
