"""An MCP server without dependencies that takes the protocol roughly, as some real ones do, and that
clients understand all the same. What is given behind its key changes how it speaks. Counts what it
really does in the file that it is given."""

import json
import os
import signal
import subprocess
import sys
import time

COUNTS, KEY = sys.argv[1], sys.argv[2]
MODES = sys.argv[3:]
OLD = "2024-11-05"


def write(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def send(id, **members):
    write(json.dumps({"jsonrpc": "2.0", "id": str(id) if "texts" in MODES else id, **members}))


def count(what):
    with open(COUNTS, "a") as file:
        file.write(f"{KEY} {what}\n")


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def flood():
    """A megabyte a line, to whoever reads."""
    for _ in range(60):
        params = {"level": "info", "data": "x" * (1 << 20)}
        write(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
        count("logged")


def called(id, name, arguments):
    if name == "login":
        send(id, result=text(f"login refused for svc / {os.environ['DB_PASSWORD']}", isError=True))
    elif name == "write_file":
        send(id, result=text(f"wrote {len(arguments['content'])}"))
    elif name == "mean":
        of = {"mean": float("nan"), "most": float("inf"), "least": float("-inf"), "said": "NaN, -Infinity"}
        send(id, result=text("n", structuredContent=of))
    elif name == "neither":
        send(id)
    elif name == "beside":
        send(id, content=[{"type": "text", "text": "the disk is full"}])
    elif name == "broken":
        write('{"jsonrpc": "2.0", "id": %s, "result": {"content": [{"type": "text", "text": "a\\x"}]}}' % id)
    elif name == "latin":
        answer = json.dumps({"jsonrpc": "2.0", "id": id, "result": text("a café, cut")}, ensure_ascii=False)
        sys.stdout.buffer.write(answer.encode("latin-1") + b"\n")
        sys.stdout.buffer.flush()
    elif name == "marked":
        write("\ufeff" + json.dumps({"jsonrpc": "2.0", "id": id, "result": text("after a mark")}))
    elif name == "leave_a_child":
        subprocess.Popen(["sleep", "60"])
        os.kill(os.getpid(), signal.SIGKILL)
    elif name == "deaf":
        os.close(0)
        send(id, result=text("deaf"))
        time.sleep(60)
    elif name == "error_in_words":
        send(id, error="no such file: /x/y.txt")
    elif name == "code_in_words":
        send(id, error={"code": "ENOENT", "message": "no such file: /x/y.txt"})
    elif name == "logging":
        # What a logger writes is no answer, whatever it has.
        write(json.dumps({"level": 30, "id": id, "msg": "called"}))
        send(id, result=text("logged"))
    elif name == "flood":
        flood()
        send(id, result=text("flooded"))
    elif "alike" in MODES:
        send(id, result=text(f"{KEY} ran {name}"))
    else:
        send(id, result=text(f'### Error\nTool "{name}" not found', isError=True))


def tools():
    alike = [mode.removeprefix("has=") for mode in MODES if mode.startswith("has=")]
    names = ["login", "write_file", "mean", "neither", "beside", "broken", "error_in_words", "code_in_words"]
    names = alike or [*names, "logging", "flood", "browser_navigate", "latin", "marked", "leave_a_child", "deaf"]
    return [{"name": name, "inputSchema": {"type": "object"}} for name in names]


for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params")
    if id is None or method is None:
        continue
    if method == "initialize" and "old" in MODES and params["protocolVersion"] != OLD:
        data = {"supported": [OLD], "requested": params["protocolVersion"]}
        send(id, error={"code": -32602, "message": "Unsupported protocol version", "data": data})
    elif method == "initialize":
        capabilities = {"tools": {}, "logging": {}, "prompts": {}}
        info = {"name": KEY, "version": "1"}
        send(id, result={"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info})
    elif method == "tools/list":
        send(id, result={"tools": tools()})
    elif method == "prompts/list":
        send(id, result={"prompts": tools()})
    elif method == "prompts/get":
        send(id, result={"description": f"{KEY} has {params['name']}", "messages": []})
    elif method == "tools/call":
        called(id, params["name"], params.get("arguments", {}))
    else:
        send(id, error={"code": -32601, "message": "Method not found"})
