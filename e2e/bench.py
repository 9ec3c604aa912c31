#!/usr/bin/env python3
"""What the guard costs: the same tool direct, behind a pump of bytes, behind the guard and behind
its peers. All are up all the time and take turns, so that what else the machine does hits all alike.
Then what the program costs by itself: its start, its size, its memory, one more server.

    e2e/bench.py [options] -- /path/to/breakfall
"""

import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "bench"))

import processes
import program
from clients import Http, Pipe, ended
from conformance import Process, free_port
from servers import NODE, TOOLS
from ways import Way, memory, more, print_table, ratio, take_turns
from wire import command_line

HERE = Path(__file__).resolve().parent
VENV = f"{TOOLS}/venv/bin"
PYTHON = f"{VENV}/python"
EVERYTHING = [f"{NODE}/mcp-server-everything"]
ECHO = [PYTHON, f"{HERE}/bench/echo.py"]
SMALL = [sys.executable, f"{HERE}/bench/small.py"]
FASTMCP = [PYTHON, f"{HERE}/bench/fastmcp_proxy.py"]
MCP_PROXY = f"{TOOLS}/venv-proxy/bin/mcp-proxy"
SUPERGATEWAY = f"{TOOLS}/npm-proxy/node_modules/.bin/supergateway"

ECHOES = {"wanted": "echo", "arguments": {"message": "hello"}}

# Servers on standard input and output: how they are started, and what is called.
STDIO = {
    "node": ("server-everything, Node", EVERYTHING, ECHOES),
    "files": (
        "server-filesystem, Node",
        [f"{NODE}/mcp-server-filesystem", tempfile.gettempdir()],
        {"wanted": "list_allowed_directories", "arguments": {}},
    ),
    "python": ("echo with the Python SDK", ECHO, ECHOES),
    "fastmcp": ("echo with FastMCP", [PYTHON, f"{HERE}/bench/fastmcp_echo.py"], ECHOES),
    "time": (
        "mcp-server-time, Python",
        [f"{VENV}/mcp-server-time"],
        {"wanted": "get_current_time", "arguments": {"timezone": "Etc/UTC"}},
    ),
    "small": ("echo of 40 lines, Python", SMALL, ECHOES),
}

PARTS = [*STDIO, "http-node", "http-python", "front", "memory", "upstreams", "start"]
PEERS = ["pump", "fastmcp", "mcp-proxy", "supergateway"]
SERVERS = 8
UPSTREAMS = [1, 2, 5, 10, 20, 50]

# The targets, by what they bound.
P50_ON_STDIO = 1.2
CPU_ON_STDIO = 0.1
MEMORY = 30.0
VERSION_MS = 10.0
SIZE = 25.0
IDLE = 15.0


class Bench:
    def __init__(self, options, guards, folder, stack, found):
        self.options = options
        self.guards = guards
        self.folder = folder
        self.stack = stack
        self.found = found
        self.files = 0
        self.revision = "2025-11-25"

    def wants(self, title):
        return title not in self.options.without

    def config(self, servers):
        self.files += 1
        file = self.folder / f"mcp-{self.files}.json"
        file.write_text(json.dumps({"mcpServers": servers}))
        return file

    def pipe(self, title, command, server, **options):
        client = Pipe(title, command, self.folder, **options)
        self.stack.callback(ended, client.process)
        client.open()
        return Way(title, client, [client.process.pid], server)

    def listening(self, title, command, port):
        process = Process(title.replace(" ", "-"), command, self.folder)
        self.stack.enter_context(process)
        process.listens(port)
        return process.process.pid

    def http(self, title, url, roots, server):
        client = Http(title, url, self.revision)
        client.open()
        return Way(title, client, roots, server)

    def compared(self, title, ways, beside=None):
        """Lets the ways take turns, and tells of them."""
        beside = beside or ways[0]
        take_turns(self.options.rounds, self.options.calls, ways)
        print_table(title, ways, beside)
        self.found["ways"] += [way.row(title, beside) | {"beside": beside.title} for way in ways]
        return {way.title: way for way in ways}

    def stdio(self, title, server, called):
        """The server on standard input and output."""
        words = server[-1] if server[0] in (PYTHON, sys.executable) else server[0]
        config = self.config({"echo": {"command": server[0], "args": server[1:]}})
        ways = [self.pipe("direct", server, words, **called)]
        if self.wants("pump"):
            pump = ["sh", "-c", f"cat | {shlex.join(server)} | cat"]
            ways.append(self.pipe("`cat`, both ways", pump, words, **called))
        for name, guard in self.guards:
            ways.append(self.pipe(name, [guard, "guard", "--", *server], words, **called))
        if self.wants("fastmcp"):
            ways.append(self.pipe("FastMCP's proxy", [*FASTMCP, config], words, **called))
        found = self.compared(f"stdio, {title}", ways)
        guard, direct = found["guard"], found["direct"]
        self.target(f"stdio, {title}: p50 beside direct", ratio(guard, direct), P50_ON_STDIO)
        self.target(f"stdio, {title}: more CPU than direct, ms a call", more(guard, direct), CPU_ON_STDIO)

    def proxies(self, backend, roots, server):
        """The guard and its peers, each listening before the same server."""
        for name, guard in self.guards:
            port = free_port()
            config = self.config({"echo": backend})
            command = [guard, "guard", "--listen", f"127.0.0.1:{port}", "--mcp-config", config]
            root = self.listening(name, command, port)
            yield self.http(name, f"http://127.0.0.1:{port}/mcp", [root, *roots], server)
        if self.wants("mcp-proxy") and "command" in backend:
            port = free_port()
            command = [MCP_PROXY, "--log-level", "ERROR", "--port", port, "--", backend["command"], *backend["args"]]
            root = self.listening("mcp-proxy", command, port)
            yield self.http("`mcp-proxy`", f"http://127.0.0.1:{port}/mcp/", [root, *roots], server)
        if self.wants("supergateway") and "command" in backend:
            port = free_port()
            words = shlex.join([backend["command"], *backend["args"]])
            options = ["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none", "--port", port]
            root = self.listening("supergateway", [SUPERGATEWAY, "--stdio", words, *options], port)
            yield self.http("`supergateway`", f"http://127.0.0.1:{port}/mcp", [root, *roots], server)
        if self.wants("fastmcp"):
            port = free_port()
            root = self.listening("fastmcp", [*FASTMCP, self.config({"echo": backend}), port], port)
            yield self.http("FastMCP's proxy", f"http://127.0.0.1:{port}/mcp", [root, *roots], server)

    def address(self, title, server, port):
        """A server at an address, and proxies at theirs. All speak 2025-06-18: in 2025-11-25 the Node
        server begins each answer with an event of its own, which takes it a millisecond more."""
        self.revision = "2025-06-18"
        root = self.listening("server", server, port)
        words = ECHO[-1] if ECHO[-1] in server else EVERYTHING[0]
        url = f"http://127.0.0.1:{port}/mcp"
        direct = self.http("direct", url, [root], words)
        self.compared(f"HTTP before HTTP, {title}", [direct, *self.proxies({"url": url}, [root], words)])

    def front(self):
        """A server on standard input and output behind proxies at addresses."""
        backend = {"command": EVERYTHING[0], "args": EVERYTHING[1:]}
        ways = list(self.proxies(backend, [], EVERYTHING[0]))
        beside = next(way for way in ways if way.title == "guard")
        self.compared("HTTP before stdio, server-everything, Node", ways, beside)

    def memory(self):
        """What is held when each of many servers was called a hundred times."""
        backends = {f"echo{number}": {"command": EVERYTHING[0], "args": EVERYTHING[1:]} for number in range(SERVERS)}
        print(f"\n| memory with {SERVERS} servers, MiB | resident | its share |\n|---|---:|---:|")
        for name, guard in self.guards:
            client = self.behind(name, guard, backends)
            for tool in client.tools():
                for _ in range(100):
                    client.call(tool)
            of_guard = memory(client.process.pid)
            print_memory(name, of_guard)
            if name == "guard":
                self.found["memory"] = {"servers": SERVERS, "rss_mib": round(of_guard[0], 2), "pss_mib": round(of_guard[1], 2)}
                self.target(f"MiB resident with {SERVERS} servers", of_guard[0], MEMORY)
            for pid, _ in processes.below(client.process.pid):
                if "__watchdog" in processes.arguments(pid):
                    print_memory(f"{name}, its watchdog", memory(pid))

    def behind(self, name, guard, backends):
        """A client of a guard before many servers that are all there."""
        client = Pipe(name, [guard, "guard", "--mcp-config", self.config(backends)], self.folder)
        self.stack.callback(ended, client.process)
        client.open()
        while len(client.tools()) < len(backends):
            time.sleep(0.05)
        return client

    def upstreams(self):
        """A call, and what the guard holds, by how many servers stand behind it."""
        ways = []
        guard = dict(self.guards)["guard"]
        for count in UPSTREAMS:
            backends = {f"echo{number}": {"command": SMALL[0], "args": SMALL[1:]} for number in range(count)}
            client = self.behind(f"{count} servers", guard, backends)
            ways.append(Way(client.title, client, [client.process.pid], SMALL[-1]))
        held = [memory(way.client.process.pid)[0] for way in ways]
        take_turns(self.options.rounds, self.options.calls, ways)
        print("\n| servers | p50 beside one | p50 ms | MiB resident before the first call |\n|---:|---:|---:|---:|")
        for count, way, mib in zip(UPSTREAMS, ways, held):
            beside_one = ratio(way, ways[0])
            print(f"| {count} | {beside_one:.2f} | {way.p50():.3f} | {mib:.1f} |", flush=True)
            self.found["upstreams"].append(
                {"upstreams": count, "ratio": round(beside_one, 3), "p50_ms": round(way.p50(), 4), "rss_mib": round(mib, 2)}
            )

    def start(self):
        """The program by itself."""
        servers = {STDIO[name][0]: STDIO[name][1] for name in ("node", "small")}
        found = program.measured(dict(self.guards)["guard"], servers, self.folder)
        self.found["start"] = found
        program.print_table(found)
        self.target("`breakfall --version`, ms", found["version_ms"], VERSION_MS)
        for row in found["ready"]:
            self.target(f"ready: the guard beside {row['server']}", row["alone_ms"] / row["direct_ms"], 1.0)
        self.target("program, MiB", found["size_mib"], SIZE)
        self.target("idle, MiB resident", found["idle_rss_mib"], IDLE)

    def target(self, what, measured, bound):
        row = {"target": what, "at_most": bound, "measured": round(measured, 3), "met": measured <= bound}
        self.found["targets"].append(row)

    def part(self, name):
        if name in STDIO:
            return self.stdio(*STDIO[name])
        if name in ("http-node", "http-python"):
            port = free_port()
            node = ["env", f"PORT={port}", *EVERYTHING, "streamableHttp"]
            title, server = ("server-everything, Node", node) if name == "http-node" else ("echo with the Python SDK", [*ECHO, port])
            return self.address(title, server, port)
        return getattr(self, name)()


def print_memory(title, found):
    print(f"| {title} | {found[0]:.1f} | {found[1]:.1f} |", flush=True)


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}"


def versions(guard):
    """What was measured, as it was installed."""
    said = subprocess.run([guard, "--version"], capture_output=True, text=True).stdout.split()
    pins = [line for stamp in sorted(TOOLS.glob("*/breakfall.stamp")) for line in stamp.read_text().splitlines()]
    wanted = ("server-everything", "server-filesystem", "server-time", "mcp==2", "fastmcp", "mcp-proxy", "supergateway")
    measured = sorted({pin for pin in pins if any(name in pin for name in wanted)})
    return {"breakfall": " ".join(said[1:]), "python": platform.python_version(), "pins": measured}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="turns of each way (15)")
    parser.add_argument("--calls", type=int, default=200, help="calls in a turn (200); a slow way makes as many as it can in half a second")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part; may be repeated")
    parser.add_argument("--without", choices=PEERS, action="append", default=[])
    parser.add_argument("--beside", metavar="PROGRAM", help="another breakfall to take turns with, as `before`")
    parser.add_argument("--json", metavar="FILE", help="write what was measured into a file, too")
    parser.add_argument("--keep", action="store_true", help="keep what the programs said")
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    if len(guard) != 1:
        parser.error("give the program after `--`")
    guards = [("guard", guard[0])]
    if options.beside:
        guards.insert(0, ("before", os.path.abspath(options.beside)))
    return options, guards


def missing(options):
    """Why it cannot begin."""
    if not Path(EVERYTHING[0]).exists():
        return "the servers are not installed\n\nhint: cargo xtask servers"
    for name, file in [("mcp-proxy", MCP_PROXY), ("supergateway", SUPERGATEWAY)]:
        if name not in options.without and not Path(file).exists():
            return f"`{name}` is not installed\n\nhint: cargo xtask bench guard, or --without {name}"
    return None


def main():
    options, guards = arguments()
    if why := missing(options):
        sys.exit(f"error: {why}")
    print(f"{machine()}; {options.rounds} turns of {options.calls} calls on each way, one call at a time.")
    folder = Path(tempfile.mkdtemp(prefix="breakfall-bench-"))
    # What is kept of these calls is nobody's history.
    os.environ["XDG_DATA_HOME"] = str(folder / "kept")
    found = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine(),
        "rounds": options.rounds,
        "calls": options.calls,
        "versions": versions(dict(guards)["guard"]),
        "ways": [],
        "upstreams": [],
        "targets": [],
    }
    try:
        for part in options.only or PARTS:
            with ExitStack() as stack:
                Bench(options, guards, folder, stack, found).part(part)
    finally:
        if options.keep:
            print(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print("\n| target | at most | measured | met |\n|---|---:|---:|---|")
    for row in found["targets"]:
        print(f"| {row['target']} | {row['at_most']:g} | {row['measured']:.2f} | {'yes' if row['met'] else 'no'} |")
    if options.json:
        Path(options.json).parent.mkdir(parents=True, exist_ok=True)
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
