#!/usr/bin/env python3
"""The conversation against a model server that nobody here wrote (npm `@copilotkit/aimock`), in
every shape it has: streamed calls that succeed and fail, a key that is refused, streams that are
cut, and its chaos on. Whatever happens, every call that a request names has its reply in it, and
the person is told the true reason.

    e2e/chat.py [--chats N] -- /path/to/breakfall
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

from servers import TOOLS, repository

MOCK = TOOLS / "npm-models" / "node_modules" / ".bin" / "llmock"
SHAPES = ("chat", "responses", "anthropic")

READ = [
    {"name": "read_file", "arguments": {"path": "notes.md"}},
    {"name": "read_file", "arguments": {"path": "nots.md"}},
    {"name": "raed_file", "arguments": {"path": "notes.md"}},
    {"name": "read_file", "arguments": {"pth": 7}},
]
FIXTURES = [
    {
        "match": {"userMessage": "Look around", "toolResultContains": "did not accept its arguments"},
        "response": {"content": "I saw that nots.md is missing."},
    },
    {
        "match": {"userMessage": "Look around", "hasToolResult": False},
        "response": {"content": "Let me see.", "toolCalls": READ},
    },
    {
        "match": {"userMessage": "The log", "toolResultContains": "not permitted"},
        "response": {"content": "I may not look there."},
    },
    {
        "match": {"userMessage": "The log", "hasToolResult": False},
        "response": {"toolCalls": [{"name": "git_log", "arguments": {"repo_path": "/nowhere"}}]},
    },
    {
        "match": {"userMessage": "Be cut"},
        "response": {"content": "This sentence is cut off in the middle of it and has no end."},
        "truncateAfterChunks": 3,
    },
]
SAID = {
    "· `read_file` did not find `nots.md`.",
    "· `raed_file` is not a tool. Nearest: `read_file`.",
    "· `read_file` did not accept its arguments.",
}
KEY = "Check your API key"

# What a run may end with when chaos had its way each time that the model was asked.
HONEST = (
    "The connection to the model was lost in the middle of its answer.",
    "The model's provider failed.",
    "The model's provider takes no more requests for now.",
    "The model's provider sent something that is no answer.",
    "The model's provider cannot be reached.",
)


class Mock:
    """The server with its own port, fixtures and flags."""

    def __init__(self, folder, *flags, keys=None):
        fixtures = folder / "fixtures"
        fixtures.mkdir(exist_ok=True)
        (fixtures / "all.json").write_text(json.dumps({"fixtures": FIXTURES}))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        variables = {**os.environ, **({"AIMOCK_API_KEYS": keys} if keys else {})}
        command = [MOCK, "-p", str(self.port), "-f", fixtures, "--log-level", "silent", *flags]
        self.process = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{self.port}"
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def asked(self):
        """The bodies of all requests to models so far."""
        with urllib.request.urlopen(f"{self.url}/__aimock/journal?limit=5000") as answer:
            entries = json.load(answer)
        return [entry["body"] for entry in entries if isinstance(entry.get("body"), dict)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def chat(program, mock, shape, folder, *lines, key="good", server=()):
    """What the person sees, and the status."""
    variables = {
        **os.environ,
        "OPENAI_API_KEY": key,
        "ANTHROPIC_API_KEY": key,
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_DATA_HOME": str(folder / "data"),
    }
    command = [program, "chat", "--model", "a-model", "--shape", shape, "--base-url", mock.url]
    command += ["--", *server] if server else []
    done = subprocess.run(
        command,
        input="\n".join(lines) + "\n",
        cwd=folder / "here",
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout, done.stderr, done.returncode


def unanswered(body):
    """Calls of a request that lack their reply directly behind them, and replies without a call."""
    wrong, open_ids = [], []
    for message in body.get("messages") or body.get("input") or []:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        made = [call["id"] for call in message.get("tool_calls") or []]
        made += [block["id"] for block in blocks if block.get("type") == "tool_use"]
        if message.get("type") == "function_call":
            made.append(message["call_id"])
        replied = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if message.get("role") == "tool":
            replied.append(message["tool_call_id"])
        if message.get("type") == "function_call_output":
            replied.append(message["call_id"])
        for reply in replied:
            if reply in open_ids:
                open_ids.remove(reply)
            else:
                wrong.append(f"a reply to {reply} without a call")
        if not replied and not made and open_ids:
            wrong.append(f"{open_ids} have no reply before the next message")
            open_ids = []
        open_ids += made
    return wrong + [f"{name} has no reply" for name in open_ids]


class Account:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def check(self, what, holds, shown=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}\n{shown}")


def plain(account, program, folder):
    """Calls that succeed and fail, streamed, and a key that is refused."""
    with Mock(folder) as mock:
        for shape in SHAPES:
            seen, errors, status = chat(program, mock, shape, folder, "Look around")
            lines = seen.splitlines()
            account.check(f"{shape}: it goes on", status == 0, seen + errors)
            account.check(f"{shape}: each failure in one line", SAID <= set(lines), seen)
            account.check(f"{shape}: the last word", lines[-1] == "I saw that nots.md is missing.", seen)
            account.check(f"{shape}: no word of keys", "key" not in seen.lower(), seen)
            seen, _, status = chat(program, mock, shape, folder, "Be cut")
            true = "The connection to the model was lost in the middle of its answer. Go on to ask again."
            account.check(f"{shape}: a cut stream", seen.splitlines()[-2:-1] == [true] and status == 1, seen)
            repository(folder / shape)
            git = [TOOLS / "venv/bin/mcp-server-git", "--repository", folder / shape]
            seen, errors, status = chat(program, mock, shape, folder, "The log", server=git)
            wanted = ["· `git_log` is not permitted to use `/nowhere`.", "I may not look there."]
            account.check(f"{shape}: the tools of a server", seen.splitlines()[-2:] == wanted, seen + errors)
        requests = mock.asked()
        account.check("requests were seen", len(requests) >= 6, len(requests))
        account.check("calls in requests", any(unanswered_calls(body) for body in requests))
        for body in requests:
            account.check("every call has its reply", not unanswered(body), unanswered(body))
    with Mock(folder, keys="good") as mock:
        for shape, name in zip(SHAPES, ("OPENAI", "OPENAI", "ANTHROPIC")):
            seen, _, status = chat(program, mock, shape, folder, "Look around", key="bad")
            words = f"The model's provider refused the API key. {KEY} in {name}_API_KEY."
            account.check(f"{shape}: a refused key", words in seen and status == 1, seen)


def unanswered_calls(body):
    return "raed_file" in json.dumps(body)


def chaos(account, program, folder, chats):
    """Half of all requests fail in one of its ways."""
    flags = ["drop=0.15", "malformed=0.1", "disconnect=0.15", "ratelimit=0.1"]
    flags = [word for flag in flags for word in ("--chaos-" + flag.split("=")[0], flag.split("=")[1])]
    ends = Counter()
    with Mock(folder, *flags) as mock:
        for number in range(chats):
            shape = SHAPES[number % len(SHAPES)]
            seen, errors, status = chat(program, mock, shape, folder, "Look around")
            lines = seen.splitlines()
            went_well = status == 0 and lines[-1:] == ["I saw that nots.md is missing."]
            honest = status == 1 and any(line.startswith(HONEST) for line in lines)
            ends["went on" if went_well else "stopped with the reason" if honest else "neither"] += 1
            account.check(f"{shape}: it goes on or says why", went_well or honest, seen + errors)
            account.check(f"{shape}: no word of keys", KEY not in seen, seen)
        requests = mock.asked()
        again = len(requests) - 2 * chats
        account.check("chaos was there", again > 0, len(requests))
        for body in requests:
            account.check("every call has its reply", not unanswered(body), unanswered(body))
    account.check("most go on", ends["went on"] > chats / 2, ends)
    print(f"chaos: {dict(ends)}, {len(requests)} requests for {chats} chats")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=24)
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    program = str(Path(arguments.program[0]).resolve())
    if not MOCK.exists():
        sys.exit(f"{MOCK} is not there: run `cargo xtask servers`")
    account = Account()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "here").mkdir()
        (folder / "here" / "notes.md").write_text("Buy milk.\n")
        plain(account, program, folder)
        chaos(account, program, folder, arguments.chats)
    print(f"{account.passed} passed, {account.failed} failed")
    sys.exit(account.failed > 0)


if __name__ == "__main__":
    main()
