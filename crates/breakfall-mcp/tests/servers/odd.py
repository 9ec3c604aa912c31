"""An MCP server without dependencies that does what real ones do and few expect. What is given as
its second argument changes what it has. Counts what it really does in the file that it is given."""

import json
import os
import signal
import sys
import threading
import time

COUNTS, KEY = sys.argv[1], sys.argv[2]
MODES = sys.argv[3:]
LOCK = threading.Lock()
ADDED = []
SUBSCRIBED = []

# Fetched before it starts, or not there the first time.
if "fetched" in MODES:
    time.sleep(7)
if "stumbles" in MODES and not os.path.exists(COUNTS):
    open(COUNTS, "w").close()
    sys.exit(1)

# Half an emoji, as languages that count in halves cut it off.
HALF = "abc\ud83d"


def write(line):
    with LOCK:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def count(what):
    with LOCK, open(COUNTS, "a") as file:
        file.write(f"{KEY} {what}\n")


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def deep(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def tool(name, schema=None, **more):
    return {"name": name, "inputSchema": schema or {"type": "object"}, **more}


def tools():
    half = {"type": "object", "properties": {"a": {"type": "string", "description": HALF}}}
    fixed = [
        tool("echo", annotations={"readOnlyHint": True}),
        tool("chatter"),
        tool("half_described", description=HALF),
        tool("half_schema", half),
        tool("half_fails"),
        tool("half_rpc"),
        tool("deep_rpc"),
        tool("half_leaks"),
        tool("add"),
        tool("task"),
        tool("touch"),
        tool("given"),
        tool("slow"),
        tool("big"),
        tool("null"),
        tool("embedded"),
        tool("big_question"),
        tool("stand_still"),
    ]
    fixed += [tool("deep_schema", deep(300))] if "deep" in MODES else []
    return fixed + [tool(name) for name in ADDED]


def page(items, name, params):
    at = int((params or {}).get("cursor", 0))
    result = {name: items[at : at + 2]}
    return result | ({"nextCursor": str(at + 2)} if at + 2 < len(items) else {})


def progress(token):
    for step in range(3):
        time.sleep(0.1)
        send(method="notifications/progress", params={"progressToken": token, "progress": step})
    count("progressed")


def call(id, params):
    name, arguments = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    if name == "chatter":
        for number in range(6):
            send(method="notifications/message", params={"level": "info", "data": number})
        send(id=id, result=text("said"))
    elif name == "half_fails":
        send(id=id, result=text("no such file: /x/y.txt " + HALF, isError=True))
    elif name == "half_rpc":
        send(id=id, error={"code": -32000, "message": "File not found: /x/" + HALF})
    elif name == "deep_rpc":
        send(id=id, error={"code": -32000, "message": "File not found: /x/y", "data": deep(300)})
    elif name == "half_leaks":
        words = "at postgres://u:hunter2-" + "secret@h/db " + HALF
        send(id=id, result=text(words, structuredContent={"words": words}))
    elif name == "add":
        ADDED.append(arguments["name"])
        if not arguments.get("quiet"):
            send(method="notifications/tools/list_changed")
        send(id=id, result=text("added"))
    elif name == "task":
        if "fails" in arguments:
            send(id=id, result=text("no such file: /x/y.txt", isError=True))
        else:
            send(id=id, result={"task": {"taskId": "t", "status": "working"}})
            progress(token)
    elif name == "given":
        send(id=id, result=text(json.dumps(params.get("arguments", "nothing"))))
    elif name == "touch":
        for uri in SUBSCRIBED:
            send(method="notifications/resources/updated", params={"uri": uri})
        send(id=id, result=text("touched"))
    elif name == "slow":
        time.sleep(arguments.get("seconds", 1))
        send(id=id, result=text("done slowly"))
    elif name == "big":
        # In the order of the TypeScript SDK, with another's id within the result.
        result = {"structuredContent": {"id": arguments["other"]}, **text("y" * (17 << 20))}
        write(json.dumps({"result": result, "jsonrpc": "2.0", "id": id}))
    elif name == "stand_still":
        send(id=id, result=text("still"))
        os.kill(os.getpid(), signal.SIGSTOP)
    elif name == "null":
        send(id=id, result=None)
    elif name == "embedded":
        block = {"type": "resource", "resource": {"uri": "x:y", "text": "no such file: /x/y.txt"}}
        send(id=id, result={"content": [block], "isError": True})
    elif name == "big_question":
        question = {"params": {"text": "y" * (17 << 20)}, "method": "sampling/createMessage", "id": f"q-{id}"}
        write(json.dumps(question))
    elif all(name != known["name"] for known in tools()):
        send(id=id, result=text(f"Unknown tool: {name}", isError=True))
    else:
        send(id=id, result=text(json.dumps(arguments)))


def asked(id, method, params):
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "odd", "version": "1"},
        }
        send(id=id, result=result)
    elif method == "tools/list":
        count("tools/list")
        time.sleep(0.2 if ADDED else 0)
        send(id=id, result={"tools": tools()})
    elif method == "resources/list":
        send(id=id, result=page([{"uri": f"{KEY}://{n}", "name": f"r{n}"} for n in range(5)], "resources", params))
    elif method == "resources/templates/list":
        send(id=id, result={"resourceTemplates": [{"uriTemplate": KEY + "-t://{id}", "name": "t"}]})
    elif method == "prompts/list":
        send(id=id, result=page([{"name": f"p{n}"} for n in range(5)], "prompts", params))
    elif method == "resources/read" and params["uri"] == "half":
        send(id=id, error={"code": -32002, "message": "cannot read " + HALF, "data": {"password": "hunter2"}})
    elif method == "resources/read":
        send(id=id, result={"contents": [{"uri": params["uri"], "text": "of " + KEY}]})
    elif method == "resources/subscribe":
        SUBSCRIBED.append(params["uri"])
        send(id=id, result={})
    elif method == "completion/complete":
        send(id=id, result={"completion": {"values": ["of " + KEY]}})
    elif method == "logging/setLevel" and "logs" in MODES:
        send(id=id, result={})
    elif method == "other/method" and params["works"] == KEY:
        send(id=id, result={"of": KEY})
    elif method == "null":
        send(id=id, result=None)
    else:
        send(id=id, error={"code": -32601, "message": "Method not found"})


time.sleep(2 if "late" in MODES else 0)
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params")
    if method == "tools/call":
        threading.Thread(target=call, args=(id, params), daemon=True).start()
    elif method and id is not None:
        asked(id, method, params)
    elif method is None and str(id).startswith("q-"):
        send(id=int(id[2:]), result=text("answered: " + json.dumps(message.get("error"))))
