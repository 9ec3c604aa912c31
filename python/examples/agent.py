# %% [markdown]
# # The same agent, twice
#
# A LangGraph agent with two tools, one of which fails. With LangGraph's own node the run dies; with
# ours the model is told, and goes on. No key is needed: the model is a script.
#
#     python examples/agent.py

# %% Two tools. One of them is broken, and its error names a password.
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from breakfall.langgraph import ErrorHandlingToolNode


@tool
def weather(city: str) -> str:
    """Tells the weather in a city."""
    address = "postgres://agent:" + "-".join(["correct", "horse"]) + "@10.0.0.7/weather"
    raise ConnectionRefusedError(111, f"cannot connect to {address}")


@tool
def almanac(city: str, month: int) -> str:
    """Tells the usual weather in a city."""
    return f"In {city}, month {month} is mostly dry."


# %% A model that plays a script: it asks for the weather, and then does as it is told.
def script() -> Any:
    def call(name: str, args: dict, id: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": args, "id": id}])

    yield call("weather", {"city": "Rome"}, "call_1")
    yield call("almanac", {"city": "Rome", "month": "five"}, "call_2")
    yield call("almanac", {"city": "Rome", "month": 5}, "call_3")
    yield AIMessage("The service is down; in May it is mostly dry in Rome.")


# %% The agent is the same but for one line: its node.
def agent(node: ToolNode) -> Any:
    model = GenericFakeChatModel(messages=script())
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


ASKED = {"messages": [HumanMessage("What is the weather in Rome?")]}

# %% LangGraph's own node: the run dies.
print("== with ToolNode")
try:
    print(agent(ToolNode([weather, almanac])).invoke(ASKED)["messages"][-1].content)
except Exception as error:
    print(f"the run died: {type(error).__name__}")

# %% Ours: the run goes on. No password reaches the model. What only reads may be tried again.
print("\n== with ErrorHandlingToolNode")
node = ErrorHandlingToolNode([weather, almanac], effects={"weather": "read_only"})
for message in agent(node).invoke(ASKED)["messages"]:
    if message.content:
        print(f"[{message.type}] {message.content}")

# %% What the developer gets: every error, without secrets. `breakfall errors` shows the same.
print("\n== what the developer sees")
for name, errors in node.get_error_summary().items():
    for error in errors:
        print(f"{name}: {error['error_type']}: {error['error_message']}")
