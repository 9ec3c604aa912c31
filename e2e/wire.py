"""A client that writes JSON-RPC lines itself, for what the SDKs are too slow or too polite for."""

import json
import os
import queue
import subprocess
import threading
import time


class Wire:
    """A connection over the standard input and output of a command. Replies are kept under their
    ids, all of them, so that a second one for the same id is seen."""

    def __init__(self, command, variables=None, stderr=subprocess.DEVNULL):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=os.environ | (variables or {}),
            start_new_session=True,
        )
        self.ids = iter(range(1, 1 << 60))
        self.replies = {}
        self.arrivals = queue.Queue()
        self.closed = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "id" in message and "method" not in message:
                self.replies.setdefault(message["id"], []).append(message)
                self.arrivals.put((message["id"], time.monotonic()))
        self.closed.set()
        self.arrivals.put((None, time.monotonic()))

    def write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method, parameters):
        number = next(self.ids)
        self.write({"id": number, "method": method, "params": parameters})
        return number

    def call(self, tool, arguments):
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def wait(self, number, seconds=60):
        """The reply to one request, or nothing when none comes."""
        until = time.monotonic() + seconds
        while number not in self.replies:
            if self.closed.is_set() or time.monotonic() > until:
                return self.replies.get(number, [None])[0]
            time.sleep(0.002)
        return self.replies[number][0]

    def ask(self, tool, arguments, seconds=60):
        return self.wait(self.call(tool, arguments), seconds)

    def initialize(self):
        number = self.send(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "e2e", "version": "1"}},
        )
        reply = self.wait(number)
        if reply is None or "result" not in reply:
            raise SystemExit(f"error: the guard did not answer `initialize`: {reply}")
        self.write({"method": "notifications/initialized"})
        return reply

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def went_well(reply):
    return reply is not None and "result" in reply and not reply["result"].get("isError")


def text(reply):
    if reply is None:
        return "no reply"
    if "error" in reply:
        return f"JSON-RPC error {reply['error'].get('code')}: {reply['error'].get('message')}"
    return "\n".join(block.get("text", "") for block in reply["result"].get("content", []))


def command_line(words):
    """Splits `options -- guard words` at the first `--`, by hand, because argparse would take the
    guard's own `--` away as well. Paths become absolute: clients run elsewhere."""
    cut = words.index("--") if "--" in words else len(words)
    absolute = [os.path.abspath(word) if "/" in word and os.path.exists(word) else word for word in words[cut + 1 :]]
    return words[:cut], absolute
