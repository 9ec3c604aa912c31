#!/usr/bin/env python3
"""A guard that does the harm ours must not do: it starts a dead server again and repeats whatever
was not answered, whatever it was. The harness is tried on it, and has to fail."""

import json
import subprocess
import sys
import threading

pending, hello, lock = {}, [], threading.Lock()
server = None


def start():
    global server
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def write(line):
    try:
        server.stdin.write(line)
        server.stdin.flush()
    except OSError:
        pass


def listen():
    while True:
        for line in server.stdout:
            with lock:
                # The second greeting is ours.
                known = pending.pop(json.loads(line).get("id"), None)
            if known or b'"method"' in line:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
        with lock:
            server.wait()
            start()
            for line in [*hello, *pending.values()]:
                write(line)


start()
threading.Thread(target=listen, daemon=True).start()
for line in sys.stdin.buffer:
    with lock:
        asked = json.loads(line)
        if asked.get("method") in ("initialize", "notifications/initialized"):
            hello.append(line)
        if "id" in asked:
            pending[asked["id"]] = line
        write(line)
server.kill()
