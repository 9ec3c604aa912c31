#!/usr/bin/env python3
"""The inspector's load tester, while the server is killed every second: the client sees no
transport error.

    e2e/load.py [--seconds N] [--concurrency N] [--every SECONDS] [-- /path/to/breakfall guard --]
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import processes
from servers import NODE
from wire import command_line

EVERYTHING = f"{NODE}/mcp-server-everything"


def start(command, seconds, concurrency, config):
    program, *arguments = command
    json.dump({"mcpServers": {"it": {"command": program, "args": arguments}}}, config)
    config.flush()
    return subprocess.Popen(
        [f"{NODE}/node", f"{NODE}/mcp-inspector", "--cli", "--config", config.name, "--server", "it"]
        + ["--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi"]
        + ["--load", "--load-duration", str(seconds), "--load-concurrency", str(concurrency)]
        + ["--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # The inspector starts itself again with the first `node` it finds.
        env=os.environ | {"PATH": f"{NODE}:{os.environ['PATH']}"},
        start_new_session=True,
    )


def harass(inspector, every):
    """Kills the server while the inspector runs; how often."""
    kills = 0
    while inspector.poll() is None:
        time.sleep(every or 0.2)
        if every and (pid := processes.server(inspector.pid, EVERYTHING)):
            try:
                os.kill(pid, signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                pass
    return kills


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--every", type=float, default=1.0, help="seconds from kill to kill; 0: none")
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        inspector = start([*guard, EVERYTHING], options.seconds, options.concurrency, config)
        kills = harass(inspector, options.every)
        said, grumbled = inspector.communicate()
    print(said.strip() or grumbled.strip())
    print(f"killed {kills} times; the inspector's exit status is {inspector.returncode}")
    try:
        counts = json.loads(said)["result"]
    except (ValueError, KeyError):
        sys.exit("error: the inspector gave no summary\n0 passed, 1 failed")
    # Few calls, or few kills, would prove nothing.
    worked = counts["errors"] == 0 and counts["ok"] > 100 and (kills >= options.seconds // 2 or not options.every)
    print(f"{counts['ok'] + counts['toolErrors']} passed, {counts['errors']} failed")
    sys.exit(0 if worked else 1)


if __name__ == "__main__":
    main()
