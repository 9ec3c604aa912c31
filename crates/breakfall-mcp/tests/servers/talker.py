"""An MCP server without dependencies that has much to say. Counts what it really does in the file
that it is given."""

import json
import os
import sys
import threading
import time

COUNTS = sys.argv[1]
LOCK = threading.Lock()
ASKED = {}


def send(**message):
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def count(what):
    with LOCK, open(COUNTS, "a") as file:
        file.write(what + "\n")


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def log(words):
    send(method="notifications/message", params={"level": "info", "data": words})


def call(id, params):
    name, arguments = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    count(name)
    if name == "echo":
        send(id=id, result=text(json.dumps(arguments)))
    elif name == "slow":
        steps, pause = arguments.get("steps", 3), arguments.get("pause", 0.05)
        for step in range(1, steps + 1):
            time.sleep(pause)
            if token is not None:
                send(method="notifications/progress", params={"progressToken": token, "progress": step})
        send(id=id, result=text("done slowly"))
        count("slow is done")
    elif name == "hang":
        pass
    elif name == "talk":
        for number in range(arguments["times"]):
            log(f"{number} " + "x" * arguments.get("size", 0))
        send(id=id, result=text("said"))
    elif name == "talk_slowly":
        for number in range(10):
            time.sleep(0.05)
            log(arguments["words"])
        send(id=id, result=text("said"))
    elif name == "talk_later":
        # When nobody asks anything.
        send(id=id, result=text("later"))
        time.sleep(0.1)
        for number in range(arguments["times"]):
            send(method="notifications/resources/updated", params={"uri": f"x://{number}"})
        count("talked")
    elif name in ("ask", "ask_and_take_back"):
        for number in range(arguments.get("times", 1)):
            ASKED[f"q-{id}-{number}"] = id
            send(id=f"q-{id}-{number}", method="elicitation/create", params={"message": f"who? {number}"})
        if name == "ask_and_take_back":
            send(method="notifications/cancelled", params={"requestId": f"q-{id}-0"})
            send(id=id, result=text("never mind"))


TOOLS = ["echo", "slow", "hang", "talk", "talk_slowly", "talk_later", "ask", "ask_and_take_back"]

# One that takes its time until it is there.
time.sleep(float(os.environ.get("TALKER_SLEEPS", "0")))
count("started")
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params")
    if method == "initialize":
        count("initialize")
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {}, "logging": {}},
            "serverInfo": {"name": "talker", "version": "1"},
        }
        send(id=id, result=result)
    elif method == "server/discover":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        send(id=id, result=result | {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
    elif method == "tools/list":
        hints = {"readOnlyHint": True}
        tools = [{"name": name, "inputSchema": {"type": "object"}, "annotations": hints} for name in TOOLS]
        send(id=id, result={"tools": tools})
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, params), daemon=True).start()
    elif method == "subscriptions/listen":
        meta = {"io.modelcontextprotocol/subscriptionId": str(id)}
        send(method="notifications/subscriptions/acknowledged", params={"_meta": meta})
    elif method == "notifications/cancelled":
        count("cancelled")
    elif method is None and id in ASKED:
        count("answered")
        answer = message.get("result", message.get("error"))
        send(id=ASKED.pop(id), result=text("answered: " + json.dumps(answer)))
    elif id is not None and method:
        send(id=id, error={"code": -32601, "message": "Method not found"})
count("ended")
