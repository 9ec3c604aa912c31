#!/usr/bin/env python3
"""The official conformance suite against the server of `conformance/`, direct and through the guard:
what passes direct has to pass through it.

    e2e/conformance.py [options] -- /path/to/breakfall [more of the guard's options]
    e2e/conformance.py [options] --direct
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import processes
from servers import NODE, TOOLS
from wire import command_line

HERE = Path(__file__).resolve().parent
FIXTURE = [f"{TOOLS}/venv/bin/python", f"{HERE}/conformance/server.py"]
SETS = ["2025-11-25", "2026-07-28"]
PASSED = "SUCCESS"

# A server behind standard input and output has no stream to close before its result.
NOT_WITH_STDIO = {"server-sse-disconnect-resume"}

# Notes of what the suite did, as many as there were messages.
NOTES = {"outgoing-request", "incoming-response", "incoming-sse-event", "stream-closed"}


@dataclass(frozen=True, order=True)
class Check:
    """`turn` counts the checks of one scenario that have the same id and name."""

    scenario: str
    id: str
    name: str
    turn: int

    def __str__(self):
        again = f" ({self.turn})" if self.turn > 1 else ""
        return f"{self.scenario} / {self.id} / {self.name}{again}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A program that runs in a group of its own until the end of a `with`."""

    def __init__(self, title, command, folder):
        self.title = title
        self.said = open(folder / f"{title}.txt", "w+")
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=self.said,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # What left the group is still below it.
        left = processes.below(self.process.pid)
        for end, number in ((os.killpg, self.process.pid), *((os.kill, pid) for pid, _ in left)):
            try:
                end(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.said.close()

    def listens(self, port, seconds=60):
        """Waits until somebody listens."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.fail("does not listen" if self.process.poll() is None else f"ended with {self.process.returncode}")

    def fail(self, trouble):
        self.said.seek(0)
        tail = "\n".join(self.said.read().splitlines()[-15:])
        raise SystemExit(f"error: the {self.title} {trouble}\n{tail}\n0 passed, 1 failed")


def checks(folder):
    """Every check that the suite wrote down, with its status and what it complains about."""
    found, turns = {}, Counter()
    for file in sorted(folder.glob("*/checks.json")):
        scenario = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT[\d-]+Z", file.parent.name)[1]
        for check in json.loads(file.read_text()):
            if check["id"] in NOTES:
                continue
            key = (scenario, check["id"], check["name"])
            turns[key] += 1
            found[Check(*key, turns[key])] = (check["status"], check.get("errorMessage") or "")
    return found


def suite(options, revision, port, folder):
    """Runs the suite against a port. What it did not get to in time is missing from the result."""
    which = ["--requirements", revision]
    if options.scenario:
        which = ["--scenario", options.scenario, "--spec-version", revision]
    url = f"http://127.0.0.1:{port}/mcp"
    command = [f"{NODE}/node", f"{NODE}/conformance", "server", "--url", url, *which, "--output-dir", folder / "checks"]
    with Process("suite", command, folder) as run:
        try:
            run.process.wait(options.patience)
        except subprocess.TimeoutExpired:
            print(f"the suite did not end within {options.patience} s")
        found = checks(folder / "checks")
        if not found:
            run.fail("wrote down no check")
    return found


def through(options, revision, guard, server, folder):
    """The checks of one set through the guard, with the fixture behind it as `server` says."""
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"fixture": server}}))
    port = free_port()
    program, *more = guard
    command = [program, "guard", "--listen", f"127.0.0.1:{port}", "--mcp-config", config, *more]
    with Process("guard", command, folder) as run:
        run.listens(port)
        found = suite(options, revision, port, folder)
        if run.process.poll() is not None:
            run.fail(f"ended with {run.process.returncode} before the suite did")
    return found


def measure(options, revision, guard):
    """The checks of one set, against a server that was just started."""
    folder = Path(tempfile.mkdtemp(prefix="breakfall-conformance-"))
    try:
        if guard and options.upstream == "stdio":
            server = {"command": FIXTURE[0], "args": [FIXTURE[1], "--stdio"]}
            return through(options, revision, guard, server, folder)
        port = free_port()
        with Process("fixture", [*FIXTURE, port], folder) as fixture:
            fixture.listens(port)
            if guard:
                return through(options, revision, guard, {"url": f"http://127.0.0.1:{port}/mcp"}, folder)
            return suite(options, revision, port, folder)
    finally:
        if options.keep:
            print(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def passed(found):
    return {check for check, (status, _) in found.items() if status == PASSED}


def report(title, lost, found):
    for check in sorted(lost):
        status, complaint = found.get(check, ("missing", ""))
        print(f"{title} {check}: {status.lower()}" + (f"\n      {' '.join(complaint.split())[:300]}" if complaint else ""))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--direct", action="store_true", help="without a guard: what the server itself passes")
    parser.add_argument("--only", choices=SETS, help="only this set of requirements")
    parser.add_argument("--scenario", help="only this scenario")
    parser.add_argument("--upstream", choices=["http", "stdio"], default="http", help="how the guard reaches the server")
    parser.add_argument("--patience", type=int, default=300, help="seconds for one run of the suite")
    parser.add_argument("--keep", action="store_true", help="keep what the suite and the servers wrote")
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    if bool(guard) == options.direct:
        parser.error("give either the guard's program after `--`, or --direct")
    return options, guard


def main():
    options, guard = arguments()
    if not Path(f"{NODE}/conformance").exists():
        sys.exit("error: the suite is not installed\n\nhint: cargo xtask servers")
    started = time.monotonic()
    good = bad = 0
    rows = []
    for revision in [options.only] if options.only else SETS:
        direct = measure(options, revision, None)
        want = passed(direct)
        # A server that fails by itself would hide what a guard loses.
        amiss = {check for check, (status, _) in direct.items() if status in ("FAILURE", "WARNING")}
        report(f"FAIL {revision} direct:", amiss, direct)
        if options.direct:
            row = (len(want), len(amiss))
        else:
            if options.upstream == "stdio":
                want = {check for check in want if check.id not in NOT_WITH_STDIO}
            found = measure(options, revision, guard)
            lost = want - passed(found)
            report(f"LOST {revision}:", lost, found)
            # A scenario that fails as a whole says so under another name.
            news = {check for check, (status, _) in found.items() if status == "FAILURE" and check not in direct}
            report(f"NEW  {revision}:", news, found)
            bad += len(lost | news)
            row = (len(want), len(want - lost), len(lost))
        good += row[-2]
        bad += len(amiss)
        rows.append((revision, *row))
    print("| set | direct | failed |" if options.direct else "| set | direct | through the guard | lost |")
    print("|---" * len(rows[0]) + "|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(f"{time.monotonic() - started:.0f} s")
    print(f"{good} passed, {bad} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
