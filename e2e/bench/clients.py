"""Clients that wait for each answer and do next to nothing themselves, so that what is between them
and the server is what is measured."""

import json
import os
import socket
import subprocess
import time

import processes


class Client:
    """A session of one client; `exchange` gives the answer to what it sends."""

    def __init__(self, title, revision="2025-11-25", wanted="echo", arguments=None):
        self.title = title
        self.revision = revision
        self.wanted = wanted
        self.arguments = arguments or {"message": "hello"}
        self.ids = iter(range(1, 1 << 60))

    def ask(self, method, params):
        """The result of a request and the seconds until it was there."""
        number = next(self.ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        body = json.dumps(message, separators=(",", ":")).encode()
        began = time.perf_counter()
        answer = self.exchange(body, number)
        seconds = time.perf_counter() - began
        if "result" not in answer or answer["result"].get("isError"):
            raise SystemExit(f"error: {self.title} answered {answer}")
        return answer["result"], seconds

    def open(self, patience=60):
        """Greets the server and finds the tool, whatever is put before its name."""
        self.greet()
        until = time.monotonic() + patience
        while not (found := self.tools()):
            if time.monotonic() > until:
                raise SystemExit(f"error: {self.title} lists no tool `{self.wanted}`")
            time.sleep(0.2)
        self.tool = found[0]

    def greet(self):
        name = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": name})
        self.tell(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def tools(self):
        names = [tool["name"] for tool in self.ask("tools/list", {})[0]["tools"]]
        wanted = self.wanted
        return [name for name in names if name == wanted or name.endswith((f"_{wanted}", f"/{wanted}"))]

    def begin(self):
        """Before a turn."""

    def call(self, tool=None):
        """Calls the tool and gives the seconds that it took."""
        result, seconds = self.ask("tools/call", {"name": tool or self.tool, "arguments": self.arguments})
        if not result["content"] or self.wanted == "echo" and "hello" not in result["content"][0]["text"]:
            raise SystemExit(f"error: {self.title} answered {result}")
        return seconds


class Pipe(Client):
    """A client that starts what it speaks to."""

    def __init__(self, title, command, folder, **options):
        super().__init__(title, **options)
        with open(folder / f"{title.replace(' ', '-')}.txt", "w") as said:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                cwd=folder,
                start_new_session=True,
            )

    def tell(self, body):
        os.write(self.process.stdin.fileno(), body + b"\n")

    def exchange(self, body, number):
        self.tell(body)
        while line := self.process.stdout.readline():
            # Notifications may come between.
            if b'"id"' in line and (message := json.loads(line)).get("id") == number:
                return message
        raise SystemExit(f"error: {self.title} ended")


class Http(Client):
    """A client that keeps one connection, and takes its answers as JSON or as events. An answer is
    there when its response is whole."""

    def __init__(self, title, url, revision):
        super().__init__(title, revision)
        authority, _, path = url.removeprefix("http://").partition("/")
        host, _, port = authority.partition(":")
        self.at = (host, int(port))
        self.begin()
        self.head = (
            f"POST /{path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
        )

    def begin(self):
        """A new connection: servers close one on which nothing was said while the others had their
        turns."""
        self.socket = socket.create_connection(self.at)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb")

    def tell(self, body):
        self.response(body)

    def response(self, body):
        self.socket.sendall(f"{self.head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status = self.reader.readline().split()
        headers = {}
        while (line := self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if not status or not status[1].startswith(b"2"):
            raise SystemExit(f"error: {self.title} answered {status}, {headers}")
        if b"mcp-session-id" in headers and "Mcp-Session-Id" not in self.head:
            self.head += f"Mcp-Session-Id: {headers[b'mcp-session-id'].decode()}\r\n"
            self.head += f"MCP-Protocol-Version: {self.revision}\r\n"
        if headers.get(b"transfer-encoding") == b"chunked":
            return self.chunks()
        return self.reader.read(int(headers.get(b"content-length", 0)))

    def chunks(self):
        whole = b""
        while size := int(self.reader.readline(), 16):
            whole += self.reader.read(size)
            self.reader.readline()
        self.reader.readline()
        return whole

    def exchange(self, body, number):
        came = self.response(body)
        if came.lstrip().startswith(b"{"):
            return json.loads(came)
        for line in came.splitlines():
            if line.startswith(b"data:") and line[5:].strip():
                message = json.loads(line[5:])
                if message.get("id") == number:
                    return message
        raise SystemExit(f"error: {self.title} sent no answer: {came[:300]}")


def ended(process):
    """Ends what a client started: the guard ends its servers itself when its client is gone."""
    left = processes.below(process.pid)
    process.stdin.close()
    process.stdout.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for found in filter(processes.alive, left):
        os.kill(found[0], 9)
