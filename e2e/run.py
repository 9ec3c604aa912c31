#!/usr/bin/env python3
"""Makes the calls of `servers.py` through the guard with real clients, and holds every reply to
`expected/`. See README.md.

    e2e/run.py [options] -- /path/to/breakfall guard --
    e2e/run.py [options] --direct
"""

import argparse
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import processes
from servers import TOOLS, sandbox, servers, site
from wire import command_line

HERE = Path(__file__).resolve().parent

# A client is a driver, how it is started, and its mode.
CLIENTS = {
    "python": ([f"{TOOLS}/venv/bin/python", HERE / "drivers/python.py"], "session"),
    "python-auto": ([f"{TOOLS}/venv/bin/python", HERE / "drivers/python.py"], "auto"),
    "python-1": ([f"{TOOLS}/venv-langgraph/bin/python", HERE / "drivers/python.py"], "session"),
    "typescript": (["node", HERE / "drivers/typescript.mjs"], "client"),
    "typescript-1": (["node", HERE / "drivers/typescript.mjs"], "sdk"),
    "langgraph": ([f"{TOOLS}/venv-langgraph/bin/python", HERE / "drivers/langgraph.py"], "session"),
}

# What a model must never read in a failure.
INTERNALS = re.compile(r"Traceback|errors\.pydantic\.dev|site-packages|node_modules|node:internal|MCP error -\d+")

# The most that a failure says, with room for the advice.
LONGEST = 3000


def variables(session):
    """The time that the guard has for each call of a session."""
    return {
        "BREAKFALL_DEFAULTS__ATTEMPT_TIMEOUT": f"{session.attempt}s",
        "BREAKFALL_DEFAULTS__TOTAL_TIMEOUT": f"{session.total}s",
    }


class Driver:
    """A client in a process of its own, so that it fails as a user's program would. It reaches the
    server by `command`, with `env`, or at `url`."""

    def __init__(self, client, reach, folder, patience):
        self.program, mode = CLIENTS[client]
        plan = {**reach, "patience": patience, "mode": mode, "modules": f"{TOOLS}/npm"}
        self.said = open(folder / "stderr.txt", "a+")
        self.process = subprocess.Popen(
            [*self.program, json.dumps(plan)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
            cwd=folder,
            start_new_session=True,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        # What the client itself allows, and time for it to start.
        self.longest = patience + 30

    def _listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, case):
        self.process.stdin.write(json.dumps({"tool": case.tool, "arguments": case.arguments}) + "\n")
        self.process.stdin.flush()

    def answer(self):
        try:
            line = self.lines.get(timeout=self.longest)
        except queue.Empty:
            return {"raised": "nothing: the client hangs"}
        return json.loads(line) if line else {"raised": "nothing: the client is gone"}

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            pass
        left = processes.below(self.process.pid)
        for process in [(self.process.pid, None), *left]:
            try:
                os.kill(process[0], signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.said.seek(0)
        return self.said.read()


def striker(root, program, restart):
    """What signals the server below a process, and its twin where the guard has one for clients of
    the other era. Waits for it, because a guard may be starting it again."""

    def strike(number):
        until = time.monotonic() + restart
        while not (found := processes.servers(root, program)):
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        for pid in found:
            os.kill(pid, number)
        return True

    return strike


def make(driver, strike, case):
    """One call, with its signals: the answer, and what went wrong with the signals."""
    trouble = []
    if case.before and not strike(case.before):
        trouble.append("there is no server to signal")
    driver.send(case)
    since = time.monotonic()
    if case.during:
        time.sleep(0.5)
        if not strike(case.during):
            trouble.append("there is no server to signal")
        since = time.monotonic()
    answer = driver.answer()
    answer["seconds"] = time.monotonic() - since
    if case.after:
        strike(case.after)
    return answer, trouble


def normal(text, folder, port):
    """The text without what differs from run to run."""
    for path in {str(folder), str(folder.resolve())}:
        text = text.replace(path, "/srv")
    text = text.replace(f":{port}", ":PORT")
    text = re.sub(r"\(ref [a-z0-9]+\)", "(ref …)", text)
    text = re.sub(r"\b[0-9a-f]{40}\b", "COMMIT", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+\d\d:\d\d|Z)?", "TIME", text)
    text = re.sub(r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b", "DAY", text)
    return re.sub(r"\bpid \d+", "pid PID", text)


def faults(case, answer):
    """What is wrong with an answer that came through the guard."""
    if "raised" in answer:
        return [f"the client raised {answer['raised']}"]
    found = []
    if answer["error"] != case.error:
        found.append(f"`isError` is {answer['error']}, not {case.error}")
    if answer["error"]:
        if case.tool not in answer["text"]:
            found.append("the text does not name the tool")
        if hit := INTERNALS.search(answer["text"]):
            found.append(f"the text shows internals: {hit[0]}")
        if len(answer["text"]) > LONGEST:
            found.append(f"the text has {len(answer['text'])} characters")
    if case.waits and answer["seconds"] > case.waits:
        found.append(f"answered {answer['seconds']:.2f} s after the signal, not within {case.waits} s")
    return found


def written(answer):
    """An answer as it stands in a snapshot."""
    if "raised" in answer:
        return f"raised {answer['raised']}"
    return f"isError: {str(answer['error']).lower()}\n{answer['text'].rstrip()}"


class Snapshots:
    """The replies to one server's cases: `## case`, and `## case [client]` where a client's
    differs from what the others got."""

    def __init__(self, path):
        self.path = path
        self.sections = {}
        if path.exists():
            for section in re.split(r"^## ", path.read_text(), flags=re.M)[1:]:
                title, _, body = section.partition("\n")
                self.sections[title] = body.strip("\n")

    def expected(self, case, client):
        return self.sections.get(f"{case} [{client}]", self.sections.get(case))

    def accept(self, case, client, text):
        self.sections.pop(f"{case} [{client}]", None)
        if self.sections.setdefault(case, text) != text:
            self.sections[f"{case} [{client}]"] = text

    def save(self, cases):
        """In the order of the cases; sections of cases that are no more are left out."""
        def place(title):
            return [case.name for case in cases].index(title.split(" [")[0])

        names = {case.name for case in cases}
        titles = sorted((t for t in self.sections if t.split(" [")[0] in names), key=lambda t: (place(t), t))
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text("\n".join(f"## {title}\n{self.sections[title]}\n" for title in titles))


def calls(options, part, folder, driver, strike):
    """Makes the cases of one session: a list of (case, answer, what is wrong, what was said)."""
    results = []
    connection = driver.answer()
    try:
        for case in part.cases:
            if "raised" in connection:
                answer, trouble = {"raised": f"on connecting: {connection['raised']}"}, []
            else:
                answer, trouble = make(driver, strike, case)
            for key in ("text", "raised"):
                if key in answer:
                    answer[key] = normal(answer[key], folder, options.port)
            trouble = [] if options.direct else trouble + faults(case, answer)
            if not options.case or case.name in options.case:
                results.append((case, answer, trouble))
    except (OSError, ValueError) as error:
        results.append((case, {"raised": f"nothing: {error}"}, [f"the harness failed: {error!r}"]))
    said = driver.close()
    return [(*result, said) for result in results]


def session(options, client, name, number):
    """Makes the cases of one session with a client that starts the guard itself."""
    folder = Path(tempfile.mkdtemp(prefix="breakfall-e2e-"))
    try:
        sandbox(folder)
        server = next(s for s in servers(folder, options.port) if s.name == name)
        part = list(server.sessions)[number]
        if options.case and not any(case.name in options.case for case in part.cases):
            return []
        reach = {"command": [*options.guard, *server.command], "env": variables(part)}
        driver = Driver(client, reach, folder, options.patience)
        strike = striker(driver.process.pid, server.program, 0 if options.direct else 20)
        return calls(options, part, folder, driver, strike)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def report(options, client, snapshots, result):
    """Compares or accepts one answer; prints it; whether it passed."""
    case, answer, trouble, said = result
    text = written(answer)
    expected = snapshots.expected(case.name, client)
    if options.accept:
        # What breaks a rule is never what is expected.
        if not trouble:
            snapshots.accept(case.name, client, text)
    elif expected is None:
        trouble.append("nothing is expected yet: run with --accept")
    elif expected != text:
        trouble.append("not as expected, which is:\n" + indented(expected, "      "))
    mark = "FAIL" if trouble else "ok  "
    seconds = f" ({answer['seconds']:.2f} s)" if "seconds" in answer else ""
    if trouble or options.verbose:
        print(f"{mark} {snapshots.path.stem} {case.name} [{client}]{seconds}\n{indented(text, '      | ')}")
    for line in trouble:
        print(f"    * {line}")
    if trouble and options.stderr:
        print(indented("\n".join(line[:300] for line in said.splitlines()[-15:]), "      2> "))
    sys.stdout.flush()
    return not trouble


def indented(text, by):
    return "\n".join(by + line for line in text.splitlines())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--direct", action="store_true", help="without a guard: what clients see today")
    parser.add_argument("--accept", action="store_true", help="write the snapshots instead of comparing")
    parser.add_argument("--client", action="append", choices=CLIENTS, help="only this client; may be repeated")
    parser.add_argument("--server", action="append", help="only this server; may be repeated")
    parser.add_argument("--case", action="append", help="report only this case; may be repeated")
    parser.add_argument("--expected", type=Path, help="the folder of the snapshots")
    parser.add_argument("--patience", type=int, help="seconds that clients wait for a reply")
    parser.add_argument("--jobs", type=int, default=2, help="sessions at once")
    parser.add_argument("--verbose", action="store_true", help="print what passed, too")
    parser.add_argument("--stderr", action="store_true", help="print the end of stderr of what failed")
    parser.add_argument("--keep", action="store_true", help="keep the sandboxes, with all of stderr")
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    options.guard = guard
    if bool(options.guard) == options.direct:
        parser.error("give either the guard's command line after `--`, or --direct")
    options.expected = options.expected or HERE / ("direct" if options.direct else "expected")
    options.patience = options.patience or (5 if options.direct else 60)
    return options


def main():
    options = arguments()
    options.port = site()
    if not (TOOLS / "venv-crash/breakfall.stamp").exists():
        sys.exit("error: the servers are not installed\n\nhint: cargo xtask servers")
    table = [s for s in servers(Path("/srv"), options.port) if not options.server or s.name in options.server]
    clients = options.client or list(CLIENTS)
    passed = failed = 0
    started = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        work = [
            (server, client, pool.submit(session, options, client, server.name, number))
            for server in table
            for client in clients
            for number in range(len(list(server.sessions)))
        ]
        for server in table:
            snapshots = Snapshots(options.expected / f"{server.name}.txt")
            for _, client, done in (w for w in work if w[0] is server):
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
