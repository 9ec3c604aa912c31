"""Makes calls as an agent does: a LangGraph graph whose tool node has the tools of
`langchain-mcp-adapters`. What the graph raises ends a run."""

import asyncio
import json
import os
import sys
from datetime import timedelta

# This folder holds files named like packages.
sys.path = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]

from langchain_core.messages import AIMessage
from langchain_mcp_adapters.tools import load_mcp_tools
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def say(line):
    print(json.dumps(line), flush=True)


def raised(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return {"raised": f"{type(error).__name__}: {error}"}


def spoken(message):
    content = message.content
    if not isinstance(content, str):
        content = "\n".join(
            block if isinstance(block, str) else block.get("text", f"[{block.get('type')}]")
            for block in content
        )
    return {"text": content, "error": message.status == "error"}


def transport(plan):
    if "url" in plan:
        return streamable_http_client(plan["url"])
    command, *arguments = plan["command"]
    return stdio_client(StdioServerParameters(command=command, args=arguments, env=plan["env"]))


async def main():
    plan = json.loads(sys.argv[1])
    async with (
        transport(plan) as (read, write, *_),
        ClientSession(read, write, read_timeout_seconds=timedelta(seconds=plan["patience"])) as session,
    ):
        await session.initialize()
        tools = await load_mcp_tools(session)
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "tools")
        graph.add_edge("tools", END)
        graph = graph.compile()
        say({"tools": [tool.name for tool in tools]})
        while line := await asyncio.to_thread(sys.stdin.readline):
            call = json.loads(line)
            asked = {"id": "call_1", "name": call["tool"], "args": call["arguments"]}
            try:
                done = await graph.ainvoke({"messages": [AIMessage("", tool_calls=[asked])]})
                say(spoken(done["messages"][-1]))
            except Exception as error:
                say(raised(error))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except BaseException as error:
        say(raised(error))
