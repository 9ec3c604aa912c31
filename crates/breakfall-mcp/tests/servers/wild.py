"""An MCP server without dependencies whose tools misbehave in every way. Counts what it really does
in the file that it is given."""

import json
import os
import sys
import threading
import time

COUNTS = sys.argv[1]
LOCK = threading.Lock()
ANSWERS = {}


def send(**message):
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def count(what):
    with open(COUNTS, "a") as file:
        file.write(what + "\n")
        file.flush()
        os.fsync(file.fileno())


def times(what):
    try:
        return open(COUNTS).read().split("\n").count(what)
    except FileNotFoundError:
        return 0


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def tool(name, **annotations):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    return {"name": name, "inputSchema": schema, "annotations": annotations, "icons": [{"src": "x"}]}


TOOLS = [
    tool("echo", readOnlyHint=True),
    tool("read_then_die", readOnlyHint=True),
    tool("write_then_die"),
    tool("hang", readOnlyHint=True),
    tool("fail"),
    tool("rpc_error"),
    tool("silent"),
    tool("slow", readOnlyHint=True),
    tool("step_then_die", readOnlyHint=True),
    tool("ask"),
    tool("flood"),
    tool("garbage"),
    tool("environment"),
    tool("with space"),
    tool("rows"),
]


def call(id, params):
    name, arguments = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    count(name)
    if name == "echo":
        send(id=id, result=text(json.dumps(arguments), structuredContent={"big": 1e300}, odd="kept"))
    elif name == "read_then_die":
        if times(name) == 1:
            print("a last word, password=hunter2-secret", file=sys.stderr, flush=True)
            os._exit(3)
        send(id=id, result=text("read"))
    elif name == "step_then_die":
        for step in range(3 if times(name) == 1 else 5):
            send(method="notifications/progress", params={"progressToken": token, "progress": step, "total": 4})
        if times(name) == 1:
            os._exit(3)
        send(id=id, result=text("stepped"))
    elif name == "write_then_die":
        os._exit(3)
    elif name == "hang":
        pass
    elif name == "fail":
        send(id=id, result=text("MCP error -32603: ENOENT: no such file or directory, open '/srv/x.txt'", isError=True))
    elif name == "rpc_error":
        send(id=id, error={"code": -32603, "message": "Internal error", "data": "index out of range"})
    elif name == "silent":
        send(id=id, result=text('{"success": false, "error": "no such table: nope"}'))
    elif name == "slow":
        for step in range(1, 4):
            time.sleep(0.1)
            if token is not None:
                send(method="notifications/progress", params={"progressToken": token, "progress": step, "total": 3})
        send(id=id, result=text("done slowly"))
    elif name == "ask":
        ANSWERS["q1"] = id
        send(id="q1", method="elicitation/create", params={"message": "who?"})
    elif name == "flood":
        send(id=id, result=text("x" * (17 << 20)))
    elif name == "garbage":
        with LOCK:
            sys.stdout.write("Listening on port 1\n{broken\n\n")
            sys.stdout.flush()
        send(id=id, result=text("after garbage"))
    elif name == "with space":
        send(id=id, result=text("spaced"))
    elif name == "rows":
        rows = {"errors": [{"row": 5, "why": "the name is too long"}]}
        send(id=id, result={"content": [], "isError": True, "structuredContent": rows})
    elif name == "environment":
        send(id=id, result=text(json.dumps(sorted(os.environ))))
    elif name == "unlisted":
        send(id=id, result=text("ran", isError=arguments.get("fail", False)))
    else:
        send(id=id, result=text(f"Unknown tool: {name}", isError=name != "unilsted"))


for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params")
    if method == "initialize":
        count("initialize")
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}, "experimental": {"odd": {}}},
            "serverInfo": {"name": "wild", "version": "1"},
            "instructions": json.dumps(params["capabilities"]),
        }
        send(id=id, result=result)
    elif method == "tools/list":
        send(id=id, result={"tools": TOOLS, "_meta": {"odd": 1}})
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, params), daemon=True).start()
    elif method == "notifications/cancelled":
        count("cancelled")
        # A server that answers all the same.
        send(id=params["requestId"], result=text("too late"))
    elif method is None and id in ANSWERS:
        send(id=ANSWERS.pop(id), result=text("answered: " + json.dumps(message.get("result"))))
    elif method == "resources/read":
        words = "could not reach postgres://u:hunter2-" + "secret@h/db"
        send(id=id, error={"code": -32002, "message": words, "data": {"uri": params["uri"]}})
    elif method == "logging/setLevel":
        count("level")
        if times("level") == 1:
            os._exit(3)
        send(id=id, result={})
    elif method == "odd/method":
        send(id=id, result={"odd": params})
    elif id is not None and method:
        send(id=id, error={"code": -32601, "message": "Method not found"})
