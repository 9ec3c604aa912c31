"""An MCP server over HTTP without dependencies that misbehaves as it is told. Counts what it really
does in the file that it is given.

    remote.py COUNTS PORT MODES

A mode, separated by commas: `forgetful` says 400 to who it does not know, as real servers do;
`strict` wants to be told that the client is ready, and takes its time with that; `listening` has a
stream for what belongs to no request, `dropping` one that it drops at once; `slash` moves everybody
to `/mcp/`, `found` does in the way that makes a GET of a POST; `away=PORT` to another place;
`elsewhere` is not at this address; `chatty` answers what wants no answer with a stream;
`unsaid` has no sessions; `modern` wants none;
`mailbox=PLACE` answers on one stream, as the first revision had it, and tells there where it is; `locked` refuses who does not show a token, and says what it saw."""

import json
import os
import queue
import socket
import struct
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COUNTS, PORT = sys.argv[1], int(sys.argv[2])
MODES = dict((mode.partition("=")[0], mode.partition("=")[2]) for mode in sys.argv[3].split(","))
LOCK = threading.Lock()
SESSIONS = {}
# What is still to be said, by the event behind which it is.
LATER = {}
ANSWERS = {}
TIMES = {}


def count(what):
    with LOCK, open(COUNTS, "a") as file:
        file.write(what + "\n")


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def tool(name, **annotations):
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": annotations}


ONCE = ["once", "refuse", "cut", "events", "forget", "ask", "hang", "big", "pretty", "leave", "die", "drop"]
READS = ["echo", "slow", "refuse_to_read"]
TOOLS = [tool(name, readOnlyHint=True) for name in READS]
TOOLS += [tool(name) for name in ONCE]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    # What is said on the stream of who asked, where all of it is.
    said = None

    def plain(self, status, body, kind="application/json", **headers):
        if self.said:
            return body and self.chunk(f"event: message\ndata: {body}\n\n")
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def answer(self, id, **answer):
        self.plain(200, json.dumps({"jsonrpc": "2.0", "id": id, **answer}))

    def error(self, status, code, words, id=None):
        error = {"code": code, "message": words}
        self.plain(status, json.dumps({"jsonrpc": "2.0", "id": id, "error": error}))

    def stream(self):
        if self.said:
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def chunk(self, words):
        if self.said:
            return self.said.put(words)
        body = words.encode()
        self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        self.wfile.flush()

    def event(self, message, id=None):
        at = f"id: {id}\n" if id else ""
        self.chunk(f"{at}event: message\ndata: {json.dumps({'jsonrpc': '2.0', **message})}\n\n")

    def ends(self):
        if self.said:
            return
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def breaks(self):
        """The connection is reset: no end of anything is said."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True
        self.wfile = open(os.devnull, "wb")

    def away(self):
        """Whether the request was sent to another place."""
        here = f"http://127.0.0.1:{self.server.server_address[1]}/mcp/"
        if self.path == "/mcp" and ("slash" in MODES or "found" in MODES):
            count("moved")
            self.plain(307 if "slash" in MODES else 302, "", location=here)
            return True
        if "away" in MODES:
            self.plain(307, "", location=f"http://localhost:{MODES['away']}/mcp")
            return True
        return False

    def mailbox(self):
        """A stream on which everything is answered."""
        session = str(uuid.uuid4())
        SESSIONS[session] = {"said": queue.Queue()}
        self.stream()
        self.chunk(f"event: endpoint\ndata: {MODES['mailbox'] or '/messages'}?session_id={session}\n\n")
        while words := SESSIONS[session]["said"].get():
            self.chunk(words)
        self.ends()

    def posted(self):
        """Whether a message came to a mailbox that is there."""
        session = SESSIONS.get(self.path.partition("?session_id=")[2])
        if not self.path.startswith("/messages"):
            count("not there")
            self.plain(405, "Method Not Allowed", "text/plain")
        elif not session:
            self.plain(404, "Could not find session", "text/plain")
        else:
            self.plain(202, "Accepted", "text/plain")
            self.said = session["said"]
        return bool(self.said)

    def known(self):
        if self.said or "unsaid" in MODES or "modern" in MODES or self.headers.get("mcp-session-id") in SESSIONS:
            return True
        if "forgetful" in MODES:
            self.error(400, -32000, "Bad Request: No valid session ID provided")
        else:
            self.error(404, -32001, "Session not found")
        return False

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.said = None
        if "mailbox" in MODES and not self.posted():
            return
        for name in self.headers:
            if name.lower().startswith(("authorization", "x-")):
                count(f"header {name.lower()}")
        if self.away():
            return
        if "elsewhere" in MODES:
            return self.plain(404, "<html>" + "<p>nothing here</p>" * 1000, "text/html")
        message = json.loads(body)
        method, id = message.get("method"), message.get("id")
        shown = self.headers.get("authorization", "")
        if "locked" in MODES and not shown.endswith(MODES["locked"] or "!"):
            challenge = f'Bearer resource_metadata="http://x/meta", error="invalid_token", shown="{shown}"'
            self.plain(401, f"no such token: {shown}", "text/plain", www_authenticate=challenge)
            return
        count(method or "answer")
        if method == "initialize":
            return self.greeted(id, message["params"])
        if method == "server/discover" and "modern" in MODES:
            return self.answer(id, result={"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        if not self.known():
            return
        session = SESSIONS.get(self.headers.get("mcp-session-id"), {})
        if method is None:
            ANSWERS[id] = message.get("result", message.get("error"))
            return self.plain(202, "")
        if id is None:
            if method == "notifications/initialized" and "strict" in MODES:
                time.sleep(0.1)
            session["ready"] = True
            if "chatty" in MODES:
                self.stream()
                while True:
                    self.chunk(": still here\n\n")
                    time.sleep(0.1)
            if method == "notifications/cancelled":
                count(f"cancelled {message['params']['requestId']}")
            return self.plain(202, "")
        if "strict" in MODES and not session.get("ready"):
            return self.error(400, -32602, "Received request before initialization was complete", id)
        if method == "tools/list":
            return self.answer(id, result={"tools": TOOLS})
        if method == "tools/call":
            name, arguments = message["params"]["name"], message["params"].get("arguments", {})
            count(name)
            return getattr(self, "call_" + name)(id, arguments, message["params"])
        if method == "resources/read":
            return self.call_refuse(id, {"status": 500, "body": f"at {shown}"}, {})
        self.answer(id, error={"code": -32601, "message": "Method not found"})

    def greeted(self, id, params):
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "remote", "version": "1"},
        }
        session = str(uuid.uuid4())
        if not self.said:
            SESSIONS[session] = {}
        body = json.dumps({"jsonrpc": "2.0", "id": id, "result": result})
        self.plain(200, body, **({} if "unsaid" in MODES else {"mcp_session_id": session}))

    def do_GET(self):
        count("get")
        if "mailbox" in MODES:
            return self.mailbox()
        if self.away() or not self.known():
            return
        last = self.headers.get("last-event-id")
        if last in LATER:
            count(f"resumed {last}")
            self.stream()
            for words in LATER.pop(last):
                self.chunk(words)
            self.ends()
        elif "dropping" in MODES:
            self.stream()
            self.chunk(": hello\n\n")
            self.breaks()
        elif "listening" in MODES:
            self.stream()
            self.chunk(": hello\n\n")
            while True:
                time.sleep(1)
                self.chunk(": alive\n\n")
        else:
            self.plain(405, "")

    def do_DELETE(self):
        count("delete")
        SESSIONS.pop(self.headers.get("mcp-session-id"), None)
        self.plain(200, "")

    def call_echo(self, id, arguments, _):
        self.answer(id, result=text(json.dumps(arguments)))

    def call_once(self, id, arguments, params):
        count(f"did {arguments.get('n')}")
        time.sleep(arguments.get("after", 0))
        self.call_echo(id, arguments, params)

    def call_forget(self, id, arguments, params):
        SESSIONS.clear()
        self.call_echo(id, arguments, params)

    def call_refuse(self, id, arguments, _):
        """Refuses, the first `times`."""
        TIMES["refuse"] = TIMES.get("refuse", 0) + 1
        if TIMES["refuse"] > arguments.get("times", 1000):
            return self.answer(id, result=text("at last"))
        time.sleep(arguments.get("after", 0))
        headers = {"x_" + name if name == "y" else name: value for name, value in arguments.get("headers", {}).items()}
        body = arguments.get("body", "").replace("$SHOWN", self.headers.get("authorization", ""))
        self.plain(arguments["status"], body, arguments.get("kind", "text/plain"), **headers)

    call_refuse_to_read = call_refuse

    def call_cut(self, id, arguments, _):
        where = arguments["where"]
        if where == "body":
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"jsonrpc":"2.0","id"')
            self.wfile.flush()
        elif where == "stream":
            self.stream()
            self.chunk('data: {"jsonrpc":"2.0"')
        self.breaks()

    def call_events(self, id, arguments, _):
        """Says events as they are given, and the rest to who comes back for it."""
        fill = lambda words: words.replace("$ID", str(id))
        LATER.update((at, [fill(word) for word in words]) for at, words in arguments.get("later", {}).items())
        self.stream()
        for words in arguments["events"]:
            self.chunk(fill(words))
        if arguments.get("breaks"):
            # What was not read yet is lost when a connection is reset.
            time.sleep(0.05)
            return self.breaks()
        self.ends()

    def call_slow(self, id, arguments, params):
        token = params.get("_meta", {}).get("progressToken")
        self.stream()
        for step in range(arguments.get("steps", 3)):
            time.sleep(arguments.get("step", 0.05))
            progress = {"progressToken": token, "progress": step}
            try:
                self.event({"method": "notifications/progress", "params": progress})
            except OSError:
                return count("nobody listens")
        self.event({"id": id, "result": text("done slowly")})
        self.ends()

    def call_ask(self, id, arguments, _):
        self.stream()
        question = str(uuid.uuid4())
        self.event({"id": question, "method": "elicitation/create", "params": {"message": "who?"}})
        while question not in ANSWERS:
            time.sleep(0.01)
        self.event({"id": id, "result": text(json.dumps(ANSWERS[question]))})
        self.ends()

    def call_hang(self, id, *_):
        time.sleep(30)

    def call_big(self, id, arguments, _):
        self.stream()
        message = {"id": id, "result": {"structuredContent": {"id": id + 1000}, **text("x" * (17 << 20))}}
        if arguments.get("last"):
            # In the order of the TypeScript SDK, or without telling whose it is.
            message = {"result": message["result"], **({"id": id} if arguments["last"] == "id" else {})}
            self.chunk(f"data: {json.dumps(message)}\n\n")
        else:
            self.event(message)
        self.event({"method": "notifications/message", "params": {"level": "info", "data": "behind it"}})
        self.ends()

    def call_pretty(self, id, *_):
        body = json.dumps({"jsonrpc": "2.0", "id": id, "result": text("pretty")}, indent=2)
        self.plain(200, body.replace("\n", "\r\n"), "Application/JSON; charset=utf-8")

    def call_drop(self, *_):
        """Ends the stream on which it would have to answer."""
        self.said.put("")

    def call_leave(self, id, *_):
        """Answers and closes without a word."""
        self.answer(id, result=text("left"))
        self.close_connection = True

    def call_die(self, *_):
        os._exit(3)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", PORT), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
