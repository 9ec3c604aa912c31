#!/usr/bin/env python3
"""An echo tool as people write it with FastMCP, over standard input and output.

    e2e/bench/fastmcp_echo.py
"""

from fastmcp import FastMCP

server = FastMCP("echo")


@server.tool
def echo(message: str) -> str:
    return f"Echo: {message}"


server.run(show_banner=False, log_level="ERROR")
