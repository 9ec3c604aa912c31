#!/usr/bin/env python3
"""What the guard costs: the same echo tool direct, behind a pump of bytes, behind the guard and behind
its peers. All are up all the time and take turns, so that what else the machine does hits all alike.

    e2e/bench.py [options] -- /path/to/breakfall
"""

import argparse
import json
import os
import platform
import shlex
import shutil
import statistics
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "bench"))

import processes
from clients import Client, Http, Pipe
from conformance import Process, free_port
from servers import NODE, TOOLS
from wire import command_line

HERE = Path(__file__).resolve().parent
PYTHON = f"{TOOLS}/venv/bin/python"
EVERYTHING = [f"{NODE}/mcp-server-everything"]
ECHO = [PYTHON, f"{HERE}/bench/echo.py"]
FASTMCP = [PYTHON, f"{HERE}/bench/fastmcp_proxy.py"]
MCP_PROXY = f"{TOOLS}/rust/bin/mcp-proxy"

PARTS = ["node", "python", "http-node", "http-python", "front", "memory"]
SERVERS = 8

# After how many seconds the turn of a slow way ends, with fewer calls.
LONGEST_TURN = 2.0

# The targets, by what they bound.
P50_ON_STDIO = 1.3
CPU_ON_STDIO = 0.1
MEMORY = 30.0


@dataclass
class Way:
    """One way to the tool, and what was measured on it. `roots` are the processes that it needs,
    with all below them."""

    title: str
    client: Client
    roots: list[int]
    server: str
    seconds: list[list[float]] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    between: list[float] = field(default_factory=list)

    def spent(self):
        """CPU seconds of all processes, and of those that are not the server."""
        all_of_it = between = 0.0
        for root in self.roots:
            for pid in [root, *(pid for pid, _ in processes.below(root))]:
                seconds = processor(pid)
                all_of_it += seconds
                if self.server not in processes.arguments(pid)[:2]:
                    between += seconds
        return all_of_it, between

    def turn(self, calls):
        self.client.begin()
        self.client.echo()
        before = self.spent()
        took = []
        while len(took) < calls and sum(took) < LONGEST_TURN:
            took.append(self.client.echo())
        after = self.spent()
        self.seconds.append(took)
        self.cpu.append((after[0] - before[0]) / len(took) * 1000)
        self.between.append((after[1] - before[1]) / len(took) * 1000)

    def forget(self):
        for measured in (self.seconds, self.cpu, self.between):
            measured.clear()

    def all_seconds(self):
        return sorted(second * 1000 for turn in self.seconds for second in turn)

    def p50(self):
        return statistics.median(self.all_seconds())

    def p99(self):
        every = self.all_seconds()
        return every[int(len(every) * 0.99)]


def processor(pid):
    """CPU seconds of a process: the sum of its threads, which the kernel knows to the nanosecond."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
    except OSError:
        pass
    return total / 1e9


def memory(pid):
    """What a process holds, and its share of it, in MiB."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        found = dict(line.split(":", 1) for line in file.read().splitlines()[1:])
    return [int(found[name].split()[0]) / 1024 for name in ("Rss", "Pss")]


def take_turns(options, ways):
    """Each way in turn, the first one another each time; the first turns of all only warm up."""
    for way in ways:
        way.turn(options.calls)
        way.forget()
    for number in range(options.rounds):
        first = number % len(ways)
        for way in ways[first:] + ways[:first]:
            way.turn(options.calls)


def ratio(way, beside):
    """The ratio of the medians, turn by turn: what slows a whole round down is in both."""
    pairs = zip(way.seconds, beside.seconds)
    return statistics.median(statistics.median(one) / statistics.median(other) for one, other in pairs)


def more(way, beside):
    return statistics.median(one - other for one, other in zip(way.cpu, beside.cpu))


def print_table(title, ways, beside):
    print(f"\n| {title} | p50 beside {beside.title} | p50 ms | p99 ms | CPU ms a call | more than {beside.title} | between alone |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for way in ways:
        print(
            f"| {way.title} | {ratio(way, beside):.2f} | {way.p50():.3f} | {way.p99():.2f} "
            f"| {statistics.median(way.cpu):.3f} | {more(way, beside):+.3f} | {statistics.median(way.between):.3f} |",
            flush=True,
        )


class Bench:
    def __init__(self, options, guards, folder, stack):
        self.options = options
        self.guards = guards
        self.folder = folder
        self.stack = stack
        self.files = 0
        self.revision = "2025-11-25"
        self.targets = []

    def wants(self, title):
        return title not in self.options.without

    def config(self, servers):
        self.files += 1
        file = self.folder / f"mcp-{self.files}.json"
        file.write_text(json.dumps({"mcpServers": servers}))
        return file

    def toml(self, port, backends):
        """The configuration of `mcp-proxy`."""
        self.files += 1
        file = self.folder / f"proxy-{self.files}.toml"
        text = f'[proxy]\nname = "bench"\n[proxy.listen]\nhost = "127.0.0.1"\nport = {port}\n'
        for name, backend in backends.items():
            text += f'[[backends]]\nname = "{name}"\n'
            if "url" in backend:
                text += f'transport = "http"\nurl = "{backend["url"]}"\n'
            else:
                words = json.dumps(backend["args"])
                text += f'transport = "stdio"\ncommand = "{backend["command"]}"\nargs = {words}\n'
        file.write_text(text)
        return file

    def pipe(self, title, command, server):
        client = Pipe(title, command, self.folder)
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

    def stdio(self, title, server):
        """The server on standard input and output."""
        program = server[-1]
        config = self.config({"echo": {"command": server[0], "args": server[1:]}})
        ways = [self.pipe("direct", server, program)]
        if self.wants("pump"):
            ways.append(self.pipe("`cat`, both ways", ["sh", "-c", f"cat | {shlex.join(server)} | cat"], program))
        for name, guard in self.guards:
            ways.append(self.pipe(name, [guard, "guard", "--", *server], program))
        if self.wants("fastmcp"):
            ways.append(self.pipe("FastMCP's proxy", [*FASTMCP, config], program))
        take_turns(self.options, ways)
        print_table(f"stdio, {title}", ways, ways[0])
        guard = next(way for way in ways if way.title == "guard")
        self.target(f"stdio, {title}: p50 beside direct", ratio(guard, ways[0]), P50_ON_STDIO)
        self.target(f"stdio, {title}: more CPU than direct, ms a call", more(guard, ways[0]), CPU_ON_STDIO)

    def proxies(self, backend, roots, server):
        """The guard and its peers, each listening before the same server."""
        for name, guard in self.guards:
            port = free_port()
            config = self.config({"echo": backend})
            command = [guard, "guard", "--listen", f"127.0.0.1:{port}", "--mcp-config", config]
            root = self.listening(name, command, port)
            yield self.http(name, f"http://127.0.0.1:{port}/mcp", [root, *roots], server)
        if self.wants("mcp-proxy"):
            port = free_port()
            command = [MCP_PROXY, "--config", self.toml(port, {"echo": backend})]
            root = self.listening("mcp-proxy", command, port)
            yield self.http("`mcp-proxy`", f"http://127.0.0.1:{port}/", [root, *roots], server)
        if self.wants("fastmcp"):
            port = free_port()
            root = self.listening("fastmcp", [*FASTMCP, self.config({"echo": backend}), port], port)
            yield self.http("FastMCP's proxy", f"http://127.0.0.1:{port}/mcp", [root, *roots], server)

    def address(self, title, server, port):
        """A server at an address, and proxies at theirs. All speak 2025-06-18: `mcp-proxy` does not
        name its revision in calls and is taken for older still, and in 2025-11-25 the Node server
        begins each answer with an event of its own, which takes it a millisecond more."""
        self.revision = "2025-06-18"
        root = self.listening("server", server, port)
        program = ECHO[-1] if ECHO[-1] in server else EVERYTHING[0]
        url = f"http://127.0.0.1:{port}/mcp"
        ways = [self.http("direct", url, [root], program), *self.proxies({"url": url}, [root], program)]
        take_turns(self.options, ways)
        print_table(f"HTTP before HTTP, {title}", ways, ways[0])
        self.beside_mcp_proxy(f"HTTP before HTTP, {title}", ways)

    def front(self):
        """A server on standard input and output behind proxies at addresses."""
        ways = list(self.proxies({"command": EVERYTHING[0], "args": EVERYTHING[1:]}, [], EVERYTHING[0]))
        take_turns(self.options, ways)
        beside = next((way for way in ways if way.title == "`mcp-proxy`"), ways[0])
        print_table("HTTP before stdio, Node server", ways, beside)
        self.beside_mcp_proxy("HTTP before stdio, Node server", ways)

    def beside_mcp_proxy(self, title, ways):
        found = {way.title: way for way in ways}
        if "`mcp-proxy`" in found:
            self.target(f"{title}: p50 beside `mcp-proxy`", ratio(found["guard"], found["`mcp-proxy`"]), 1.0)

    def memory(self):
        """What is held when each of many servers was called a hundred times."""
        backends = {f"echo{number}": {"command": EVERYTHING[0], "args": EVERYTHING[1:]} for number in range(SERVERS)}
        print(f"\n| memory with {SERVERS} servers, MiB | resident | its share |\n|---|---:|---:|")
        for name, guard in self.guards:
            client = Pipe(name, [guard, "guard", "--mcp-config", self.config(backends)], self.folder)
            self.stack.callback(ended, client.process)
            called(client)
            of_guard = memory(client.process.pid)
            print_memory(name, of_guard)
            if name == "guard":
                self.target(f"MiB resident with {SERVERS} servers", of_guard[0], MEMORY)
            for pid, _ in processes.below(client.process.pid):
                if "__watchdog" in processes.arguments(pid):
                    print_memory(f"{name}, its watchdog", memory(pid))
        if self.wants("mcp-proxy"):
            port = free_port()
            root = self.listening("mcp-proxy", [MCP_PROXY, "--config", self.toml(port, backends)], port)
            called(Http("`mcp-proxy`", f"http://127.0.0.1:{port}/", self.revision))
            print_memory("`mcp-proxy`", memory(root))

    def target(self, what, measured, bound):
        self.targets.append((what, measured, bound))


def called(client):
    client.open()
    while len(client.tools()) < SERVERS:
        pass
    for tool in client.tools():
        for _ in range(100):
            client.echo(tool)


def print_memory(title, found):
    print(f"| {title} | {found[0]:.1f} | {found[1]:.1f} |", flush=True)


def ended(process):
    """Ends what a client started: the guard ends its servers itself when its client is gone."""
    left = processes.below(process.pid)
    process.stdin.close()
    process.stdout.close()
    try:
        process.wait(5)
    except Exception:
        process.kill()
        process.wait()
    for found in filter(processes.alive, left):
        os.kill(found[0], 9)


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="turns of each way (20)")
    parser.add_argument("--calls", type=int, default=200, help="calls in a turn (200); a slow way makes as many as it can in two seconds")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part; may be repeated")
    parser.add_argument("--without", choices=["pump", "fastmcp", "mcp-proxy"], action="append", default=[])
    parser.add_argument("--beside", metavar="PROGRAM", help="another breakfall to take turns with, as `before`")
    parser.add_argument("--keep", action="store_true", help="keep what the programs said")
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    if len(guard) != 1:
        parser.error("give the program after `--`")
    guards = [("guard", guard[0])]
    if options.beside:
        guards.insert(0, ("before", os.path.abspath(options.beside)))
    return options, guards


def main():
    options, guards = arguments()
    if not Path(EVERYTHING[0]).exists():
        sys.exit("error: the servers are not installed\n\nhint: cargo xtask servers")
    if "mcp-proxy" not in options.without and not Path(MCP_PROXY).exists():
        sys.exit("error: `mcp-proxy` is not installed\n\nhint: cargo xtask bench guard, or --without mcp-proxy")
    print(f"{machine()}; {options.rounds} turns of {options.calls} calls on each way, one call at a time.")
    folder = Path(tempfile.mkdtemp(prefix="breakfall-bench-"))
    targets = []
    try:
        for part in options.only or PARTS:
            with ExitStack() as stack:
                bench = Bench(options, guards, folder, stack)
                bench.targets = targets
                match part:
                    case "node":
                        bench.stdio("Node server", EVERYTHING)
                    case "python":
                        bench.stdio("Python server", ECHO)
                    case "http-node":
                        port = free_port()
                        bench.address("Node server", ["env", f"PORT={port}", *EVERYTHING, "streamableHttp"], port)
                    case "http-python":
                        port = free_port()
                        bench.address("Python server", [*ECHO, port], port)
                    case "front":
                        bench.front()
                    case "memory":
                        bench.memory()
    finally:
        if options.keep:
            print(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print("\n| target | at most | measured | met |\n|---|---:|---:|---|")
    for what, measured, bound in targets:
        print(f"| {what} | {bound:g} | {measured:.2f} | {'yes' if measured <= bound else 'no'} |")


if __name__ == "__main__":
    main()
