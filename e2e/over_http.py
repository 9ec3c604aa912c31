#!/usr/bin/env python3
"""The calls of `servers.py` over HTTP: clients come to the guard over it, the guard goes to the server
over it, or both. Every reply is held to what came over standard input and output. See README.md.

    e2e/over_http.py [options] -- /path/to/breakfall
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from conformance import Process, free_port
from run import CLIENTS, HERE, Driver, Snapshots, calls, report, striker, variables
from servers import TOOLS, sandbox, servers, site
from wire import command_line

# How the client reaches the guard, and the guard the server; `sse` is the way of the first revision.
ROUTES = {
    "front": ("http", "stdio"),
    "both": ("http", "http"),
    "upstream": ("stdio", "http"),
    "mailbox": ("stdio", "sse"),
}

# The git server itself only speaks over lines; what it is made of speaks over HTTP, too.
GIT = """
import sys
from pathlib import Path
from mcp_server_git.server import create_server
create_server(Path(sys.argv[1])).run(sys.argv[3], port=int(sys.argv[2]))
"""

# What the ways are called by the servers that can be reached over HTTP, and where they listen.
WAYS = {"http": ("streamableHttp", "streamable-http", "/mcp"), "sse": ("sse", "sse", "/sse")}

# Servers that can be reached over HTTP, and how they are started so.
OVER_HTTP = {
    "everything": lambda server, way, port: ["env", f"PORT={port}", server.program, WAYS[way][0]],
    "git": lambda server, way, port: [
        *(f"{TOOLS}/venv/bin/python", "-c", GIT),
        *(server.options[1], str(port), WAYS[way][1]),
    ],
}


class Kept:
    """A server at an address that somebody starts again whenever it ends."""

    def __init__(self, server, way, folder):
        self.port = free_port()
        self.command = OVER_HTTP[server.name](server, way, self.port)
        self.said = open(folder / "server.txt", "w")
        self.is_over = False
        self.start()
        self.keeping = threading.Thread(target=self.keep)

    def start(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=self.said,
            stderr=subprocess.STDOUT,
        )

    def keep(self):
        while not self.is_over:
            self.process.wait()
            if not self.is_over:
                self.start()

    def strike(self, number):
        self.process.send_signal(number)
        return True

    def __enter__(self):
        Process.listens(self, self.port)
        self.keeping.start()
        return self

    def fail(self, trouble):
        raise SystemExit(f"error: the server {trouble}\n0 passed, 1 failed")

    def __exit__(self, *_):
        self.is_over = True
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.keeping.join()
        self.said.close()


def session(options, route, client, name, number):
    """Makes the cases of one session: what `run.py` makes of one."""
    folder = Path(tempfile.mkdtemp(prefix="breakfall-http-"))
    front, back = ROUTES[route]
    try:
        sandbox(folder)
        server = next(s for s in servers(folder, options.port) if s.name == name)
        part = list(server.sessions)[number]
        if options.case and not any(case.name in options.case for case in part.cases):
            return []
        with ExitStack() as stack:
            command, kept = ["--", *server.command], None
            if back in WAYS:
                kept = stack.enter_context(Kept(server, back, folder))
                config = folder / "breakfall.toml"
                url = f"http://127.0.0.1:{kept.port}{WAYS[back][2]}"
                config.write_text(f"[upstreams.{name}]\nurl = \"{url}\"\ntrusted = true\n")
                command = ["--config", str(config)]
            if front == "stdio":
                reach = {"command": [options.guard, "guard", *command], "env": variables(part)}
            else:
                port = free_port()
                declared = [f"{key}={value}" for key, value in variables(part).items()]
                listening = ["env", *declared, options.guard, "guard", "--listen", f"127.0.0.1:{port}"]
                guard = stack.enter_context(Process("guard", [*listening, *command], folder))
                guard.listens(port)
                reach = {"url": f"http://127.0.0.1:{port}/mcp"}
            driver = Driver(client, reach, folder, options.patience)
            strike = kept.strike if kept else striker(guard.process.pid, server.program, 20)
            return calls(options, part, folder, driver, strike)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accept", action="store_true", help="write what differs from standard input and output")
    parser.add_argument("--route", action="append", choices=ROUTES, help="only this route; may be repeated")
    parser.add_argument("--client", action="append", choices=CLIENTS, help="only this client; may be repeated")
    parser.add_argument("--server", action="append", help="only this server; may be repeated")
    parser.add_argument("--case", action="append", help="report only this case; may be repeated")
    parser.add_argument("--patience", type=int, default=60, help="seconds that clients wait for a reply")
    parser.add_argument("--jobs", type=int, default=2, help="sessions at once")
    parser.add_argument("--verbose", action="store_true", help="print what passed, too")
    parser.add_argument("--stderr", action="store_true", help="print the end of stderr of what failed")
    parser.add_argument("--keep", action="store_true", help="keep the sandboxes, with all of stderr")
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    if len(guard) != 1:
        parser.error("give the guard's program after `--`")
    [options.guard] = guard
    options.direct = False
    return options


class Expected:
    """What is expected over HTTP: what differs there, else what came over standard input and output."""

    def __init__(self, name, route):
        self.usual = Snapshots(HERE / f"expected/{name}.txt")
        self.own = Snapshots(HERE / f"expected/http/{name}-{route}.txt")
        self.path = self.own.path

    def expected(self, case, client):
        return self.own.expected(case, client) or self.usual.expected(case, client)

    def accept(self, case, client, text):
        if self.usual.expected(case, client) != text:
            self.own.accept(case, client, text)

    def save(self, cases):
        if self.own.sections:
            self.own.save(cases)


def main():
    options = arguments()
    options.port = site()
    if not (TOOLS / "venv-crash/breakfall.stamp").exists():
        sys.exit("error: the servers are not installed\n\nhint: cargo xtask servers")
    wanted = options.server or ["everything", "git"]
    table = [s for s in servers(Path("/srv"), options.port) if s.name in wanted]
    clients = options.client or list(CLIENTS)
    routes = options.route or list(ROUTES)
    passed = failed = 0
    started = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        work = [
            (server, route, client, pool.submit(session, options, route, client, server.name, number))
            for server in table
            for route in routes
            if ROUTES[route][1] == "stdio" or server.name in OVER_HTTP
            for client in clients
            for number in range(len(list(server.sessions)))
        ]
        for server in table:
            for route in routes:
                snapshots = Expected(server.name, route)
                for _, _, client, done in (w for w in work if w[0] is server and w[1] == route):
                    for result in done.result():
                        if report(options, client, snapshots, result):
                            passed += 1
                        else:
                            failed += 1
                if options.accept:
                    snapshots.save([case for part in server.sessions for case in part.cases])
    print(f"{time.monotonic() - started:.0f} s")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
