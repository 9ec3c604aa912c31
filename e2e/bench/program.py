"""The program by itself: how soon it is there, how big it is, what it holds when nobody calls."""

import os
import statistics
import subprocess
import time

import processes
from clients import Pipe, ended
from ways import memory

# How often it is started for a median.
STARTS = 20
GREETINGS = 7


def seconds_of(command):
    """How long a program takes that only says something."""
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def version(program):
    """Milliseconds of `--version`, and of a program that does nothing: what starting alone takes."""
    pairs = [(seconds_of([program, "--version"]), seconds_of(["true"])) for _ in range(STARTS)]
    return [statistics.median(column) * 1000 for column in zip(*pairs)]


def ready(title, command, folder):
    """Milliseconds from the start of a command to its list of tools."""
    began = time.perf_counter()
    client = Pipe(title, command, folder)
    client.greet()
    client.ask("tools/list", {})
    took = time.perf_counter() - began
    ended(client.process)
    return took * 1000


def greetings(guard, server, folder):
    """How soon a server is there direct and behind the guard, and the guard without any: the medians
    of what took turns."""
    ways = {"direct_ms": server, "guard_ms": [guard, "guard", "--", *server], "alone_ms": [guard, "guard"]}
    took = {way: [] for way in ways}
    for _ in range(GREETINGS):
        for way, command in ways.items():
            took[way].append(ready(way, command, folder))
    found = {way: statistics.median(all_of_them) for way, all_of_them in took.items()}
    return found | {"more_ms": found["guard_ms"] - found["direct_ms"], "ratio": found["guard_ms"] / found["direct_ms"]}


def idle(guard, server, folder):
    """MiB that the guard holds before a server that is up and not called, its share of that, and what
    its watchdog holds."""
    client = Pipe("idle", [guard, "guard", "--", *server], folder)
    client.open()
    time.sleep(1)
    watchdogs = [pid for pid, _ in processes.below(client.process.pid) if "__watchdog" in processes.arguments(pid)]
    held = [*memory(client.process.pid), sum(memory(pid)[0] for pid in watchdogs)]
    ended(client.process)
    return held


def measured(guard, servers, folder):
    """All of it. The last of the servers is the smallest."""
    of_version, of_nothing = version(guard)
    rows = [{"server": title} | greetings(guard, server, folder) for title, server in servers.items()]
    rss, pss, watchdog = idle(guard, list(servers.values())[-1], folder)
    return {
        "version_ms": of_version,
        "true_ms": of_nothing,
        "ready": rows,
        "size_mib": os.path.getsize(guard) / (1 << 20),
        "idle_rss_mib": rss,
        "idle_pss_mib": pss,
        "watchdog_rss_mib": watchdog,
    }


def print_table(found):
    print("\n| start and size | measured |\n|---|---:|")
    print(f"| `breakfall --version`, median of {STARTS} | {found['version_ms']:.1f} ms |")
    print(f"| `true`, which does nothing | {found['true_ms']:.1f} ms |")
    for row in found["ready"]:
        until = f"start to list of tools, {row['server']}"
        print(f"| {until}: direct | {row['direct_ms']:.0f} ms |")
        print(f"| {until}: behind the guard | {row['guard_ms']:.0f} ms |")
        print(f"| {until}: behind the guard beside direct | {row['ratio']:.2f} |")
        print(f"| start to list of tools: the guard alone, its turns with {row['server']} | {row['alone_ms']:.0f} ms |")
    print(f"| program | {found['size_mib']:.1f} MiB |")
    print(f"| idle before a server: resident | {found['idle_rss_mib']:.1f} MiB |")
    print(f"| idle before a server: its share | {found['idle_pss_mib']:.1f} MiB |")
    print(f"| its watchdog: resident | {found['watchdog_rss_mib']:.1f} MiB |", flush=True)
