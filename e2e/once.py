#!/usr/bin/env python3
"""Kills the server at random moments of a call that must not be made twice, and counts how often
it was: by its traces (commits, moved files) and by what reached the server. In between, a call
that only reads loses its server too, and must be answered all the same.

    e2e/once.py [--kills N] [--seed N] -- /path/to/breakfall guard --
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import processes
from servers import NODE, TOOLS, repository
from wire import Wire, command_line, text, went_well

# Of how many calls that write, one is followed by a call that reads.
READ = 5

# The server's input passes through `tee`, and the server stays the guard's own child.
TEE = 'exec "${@:2}" < <(exec tee -a "$1")'


class Unready(Exception):
    """No server answers any more."""


class Trial:
    """A server, a call that leaves a trace, and one that only reads."""

    def __init__(self, folder, guard, program, *options):
        self.folder, self.program = folder, program
        self.log = folder / "reached.txt"
        # Servers die here far more often than breakers and budgets are made for: they are off,
        # so that every call gets to a server.
        variables = {
            f"BREAKFALL_{table}__{key}": "false"
            for table, keys in (("DEFAULTS", ("BREAKER", "BUDGET", "REPEATS")), ("UPSTREAMS__BASH", ("BREAKER", "BUDGET")))
            for key in keys
        }
        self.wire = Wire([*guard, "bash", "-c", TEE, "bash", self.log, program, *options], variables)
        self.wire.initialize()

    def ready(self):
        """Waits until a server answers, which the guard may have to start first; its pid."""
        until = time.monotonic() + 60
        while not went_well(reply := self.wire.ask(*self.reads)):
            if self.wire.closed.is_set() or time.monotonic() > until:
                raise Unready(text(reply))
            time.sleep(0.2)
        return processes.server(self.wire.process.pid, self.program)

    def reached(self, mark):
        """How many calls with this mark were written to a server."""
        count = 0
        for line in self.log.read_text().splitlines():
            try:
                asked = json.loads(line)
            except ValueError:
                continue
            count += asked.get("method") == "tools/call" and mark in json.dumps(asked)
        return count


class Moves(Trial):
    name = "move_file"

    def __init__(self, folder, guard):
        self.files = folder / "files"
        self.files.mkdir(parents=True)
        super().__init__(folder, guard, f"{NODE}/mcp-server-filesystem", str(self.files))
        (self.files / "ok.txt").write_text("hi\n")
        self.reads = ("read_text_file", {"path": f"{self.files}/ok.txt"})
        self.usual = 0.005

    def prepare(self, mark):
        (self.files / f"{mark}.from").write_text(mark)
        return "move_file", {"source": f"{self.files}/{mark}.from", "destination": f"{self.files}/{mark}.to"}

    def has_trace(self, mark):
        return os.path.exists(f"{self.files}/{mark}.to")

    def done(self, mark):
        """How often it was done, which is once at most for a file; and what cannot be."""
        came, left = (self.files / f"{mark}.to").exists(), (self.files / f"{mark}.from").exists()
        return int(came), "the file is in two places or in none" if came == left else None


class Commits(Trial):
    name = "git_commit"

    def __init__(self, folder, guard):
        self.repo = folder / "repo"
        repository(self.repo)
        super().__init__(folder, guard, f"{TOOLS}/venv/bin/mcp-server-git", "--repository", str(self.repo))
        self.reads = ("git_status", {"repo_path": str(self.repo)})
        self.usual = 0.03

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", self.repo, *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    def prepare(self, mark):
        # A server killed at work leaves its locks behind.
        for lock in (self.repo / ".git").rglob("*.lock"):
            lock.unlink()
        (self.repo / f"{mark}.txt").write_text(mark)
        self.git("add", ".")
        self.head = self.tip()
        return "git_commit", {"repo_path": str(self.repo), "message": mark}

    def tip(self):
        return (self.repo / ".git/refs/heads/main").read_bytes()

    def has_trace(self, mark):
        return self.tip() != self.head

    def done(self, mark):
        # The server refuses a second, empty commit: then what reached it tells, and its refusal.
        return self.git("log", "--format=%s").splitlines().count(mark), None


def writes(trial, mark, dice, counts):
    """One call that writes, under a kill: what is wrong."""
    tool, arguments = trial.prepare(mark)
    server = trial.ready()
    number = trial.wire.call(tool, arguments)
    if dice.random() < 0.5:
        # The worst moment: it has been done, and not been answered.
        until = time.monotonic() + 0.5
        while not trial.has_trace(mark) and number not in trial.wire.replies and time.monotonic() < until:
            pass
    else:
        time.sleep(dice.uniform(0, 1.5 * trial.usual))
    os.kill(server, signal.SIGKILL)
    killed = time.monotonic()
    reply = trial.wire.wait(number)
    took = time.monotonic() - killed
    time.sleep(0.02)
    done, wrong = trial.done(mark)
    reached = trial.reached(mark)
    found = [wrong] if wrong else []
    if reply is None:
        found.append("it was not answered")
    elif "error" in reply:
        found.append(f"it was answered with {text(reply)}")
    elif len(trial.wire.replies[number]) > 1:
        found.append("it was answered twice")
    if done > 1:
        found.append(f"it was done {done} times")
    if reached > 1:
        found.append(f"it reached a server {reached} times")
    if went_well(reply) and not done:
        found.append("it was said to be done, and was not")
    if reply and not went_well(reply) and done and "may have taken effect" not in text(reply):
        found.append(f"it was done, and the reply does not say so: {text(reply)}")
    if went_well(reply):
        counts["answered before the kill"] += 1
    else:
        counts["done, and lost" if done else "not done, and lost"] += 1
        counts["slowest answer, ms"] = max(counts["slowest answer, ms"], round(took * 1000))
    return found


def reads(trial):
    """One call that reads, its server killed before it could answer: what is wrong."""
    server = trial.ready()
    os.kill(server, signal.SIGSTOP)
    number = trial.wire.call(*trial.reads)
    time.sleep(0.05)
    os.kill(server, signal.SIGKILL)
    reply = trial.wire.wait(number)
    return [] if went_well(reply) else [f"{trial.reads[0]} was not repeated: {text(reply)}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    if not guard:
        parser.error("give the guard's command line after `--`")
    dice = random.Random(options.seed)
    print(f"seed {options.seed}")
    started, failed = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="breakfall-once-") as folder:
        for kind, kills in ((Moves, options.kills // 2), (Commits, options.kills - options.kills // 2)):
            trial, counts = kind(Path(folder) / kind.name, guard), Counter()
            for number in range(kills):
                try:
                    found = writes(trial, f"mark-{number:04}-", dice, counts)
                    if number % READ == 0:
                        found += reads(trial)
                        counts["reads repeated"] += 1
                except Unready as error:
                    print(f"FAIL {kind.name} {number}: no server answers any more: {error}")
                    failed += kills - number
                    break
                failed += bool(found)
                for line in found:
                    print(f"FAIL {kind.name} {number}: {line}", flush=True)
            print(f"{kind.name}: {dict(counts)}", flush=True)
            trial.wire.close()
    print(f"{time.monotonic() - started:.0f} s")
    print(f"{options.kills - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
