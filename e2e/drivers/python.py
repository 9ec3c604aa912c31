"""Makes calls as a program would that uses the Python `mcp` package, of either generation.

Takes `{"command", "env", "patience", "mode"}`, or a `url` in place of the first two, as its argument, a call a line on standard input,
and writes a line for the connection and one for each call. `mode` is `session` (`ClientSession`,
the handshake) or `auto` (`Client`, which takes the newest era that the server speaks).
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from datetime import timedelta

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def say(line):
    print(json.dumps(line), flush=True)


def raised(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return {"raised": f"{type(error).__name__}: {error}"}


def seconds(number):
    import mcp

    first = not hasattr(mcp, "Client")
    return timedelta(seconds=number) if first else number


def transport(plan):
    if "url" in plan:
        from mcp.client.streamable_http import streamable_http_client

        return streamable_http_client(plan["url"])
    command, *arguments = plan["command"]
    return stdio_client(StdioServerParameters(command=command, args=arguments, env=plan["env"]))


async def connect(stack, plan):
    patience = seconds(plan["patience"])
    if plan["mode"] == "auto":
        from mcp import Client

        return await stack.enter_async_context(
            Client(transport(plan), mode="auto", read_timeout_seconds=patience)
        )
    read, write, *_ = await stack.enter_async_context(transport(plan))
    session = await stack.enter_async_context(
        ClientSession(read, write, read_timeout_seconds=patience)
    )
    await session.initialize()
    return session


def spoken(result):
    text = "\n".join(getattr(block, "text", f"[{block.type}]") for block in result.content)
    error = getattr(result, "isError", None)
    return {"text": text, "error": bool(result.is_error if error is None else error)}


async def main():
    plan = json.loads(sys.argv[1])
    async with AsyncExitStack() as stack:
        session = await connect(stack, plan)
        listed = await session.list_tools()
        say({"tools": [tool.name for tool in listed.tools]})
        while line := await asyncio.to_thread(sys.stdin.readline):
            call = json.loads(line)
            try:
                say(spoken(await session.call_tool(call["tool"], call["arguments"])))
            except Exception as error:
                say(raised(error))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except BaseException as error:
        say(raised(error))
