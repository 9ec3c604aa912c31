"""The real servers, a sandbox for them, and the calls that are made to each."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = (ROOT / ".tools").resolve()
NODE = TOOLS / "npm/node_modules/.bin"


@dataclass
class Case:
    """One call. `error` is what `isError` must be behind the guard; `before` and `during` are
    signals to the server, `after` one when the reply is there. `waits` bounds the seconds from
    the last signal to the reply."""

    name: str
    tool: str
    arguments: dict
    error: bool = True
    before: int | None = None
    during: int | None = None
    after: int | None = None
    waits: float | None = None


@dataclass
class Session:
    cases: list[Case]
    attempt: int
    total: int


@dataclass
class Server:
    name: str
    program: str
    options: list[str]
    calls: list[Case]
    variables: dict[str, str] = field(default_factory=dict)
    # A call that only reads, and one that must not be made twice, for the signals.
    reads: Case | None = None
    once: Case | None = None
    # One that takes two seconds.
    slow: Case | None = None
    # Whether it may be repeated: servers without annotations are taken to do harm.
    repeats: bool = True

    @property
    def command(self):
        declared = [f"{key}={value}" for key, value in self.variables.items()]
        return (["env", *declared] if declared else []) + [self.program, *self.options]

    @property
    def sessions(self):
        """The cases that are made over one connection, and the time that the guard has for each."""
        yield Session(self.calls, attempt=5, total=6)
        if self.reads is None:
            return
        reads, once = self.reads, self.once
        stopped, killed = signal.SIGSTOP, signal.SIGKILL
        cases = [
            Case("killed_while_reading", reads.tool, reads.arguments, not self.repeats, stopped, killed),
            Case("after_the_kill", reads.tool, reads.arguments, False),
        ]
        if once:
            cases += [
                Case("killed_while_writing", once.tool, once.arguments, True, stopped, killed, waits=1.0),
                Case("after_the_second_kill", reads.tool, reads.arguments, False),
            ]
        if self.slow:
            cases.append(Case("killed_while_slow", self.slow.tool, self.slow.arguments, False, during=killed))
        yield Session(cases, attempt=10, total=20)
        cases = [
            Case("stopped", reads.tool, reads.arguments, True, before=stopped, after=signal.SIGCONT),
            Case("after_the_stop", reads.tool, reads.arguments, False),
        ]
        if self.slow:
            cases += [
                Case("too_slow", self.slow.tool, self.slow.arguments | {"duration": 30}),
                Case("after_too_slow", reads.tool, reads.arguments, False),
            ]
        yield Session(cases, attempt=2, total=3)


def sandbox(folder):
    """A folder to read and write in, a repository, a database, a web site."""
    allowed = folder / "allowed"
    (allowed / "sub").mkdir(parents=True)
    (allowed / "ok.txt").write_text("hi\n")
    (allowed / "link").symlink_to("/etc/hostname")
    repository(folder / "repo")
    return folder


def repository(folder):
    folder.mkdir(parents=True)
    fixed = {"GIT_AUTHOR_DATE": "2026-01-31T12:00:00Z", "GIT_COMMITTER_DATE": "2026-01-31T12:00:00Z"}

    def git(*arguments):
        subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, env=os.environ | fixed)

    git("init", "--initial-branch=main")
    git("config", "user.name", "E2E")
    git("config", "user.email", "e2e@example.org")
    git("config", "gc.auto", "0")
    (folder / "a.txt").write_text("a\n")
    git("add", "a.txt")
    git("commit", "--message", "first")


class _Site(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow":
            time.sleep(2)
        there = self.path in ("/page", "/slow")
        body = b"A page.\n" if there else b"nothing here\n"
        self.send_response(200 if there else 404)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def site():
    """Serves pages on a free port for `fetch`, for as long as the program runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def servers(folder, port):
    """The table. `folder` is a sandbox, `port` the site's."""
    allowed, repo = str(folder / "allowed"), str(folder / "repo")
    local = f"http://127.0.0.1:{port}"
    slow = "trigger-long-running-operation"
    thought = {"thought": "x", "nextThoughtNeeded": "true", "thoughtNumber": "1", "totalThoughts": "2"}
    person = {"name": "Ada", "entityType": "person", "observations": ["wrote"]}
    return [
        Server("everything", f"{NODE}/mcp-server-everything", [], [
            Case("ok", "echo", {"message": "hi"}, False),
            Case("unknown_tool", "ehco", {"message": "hi"}),
            Case("missing_argument", "echo", {}),
            Case("wrong_type", "get-sum", {"a": "two", "b": 3}),
            Case("misspelt_argument", "echo", {"mesage": "hi"}),
            Case("not_of_the_list", "get-annotated-message", {"messageType": "nope"}),
            Case("out_of_range", "get-resource-links", {"count": 999}),
            Case("domain_failure", "gzip-file-as-resource",
                 {"name": "x", "data": "https://example.invalid/a", "outputType": "resource"}),
            Case("structured", "get-structured-content", {"location": "New York"}, False),
            Case("image", "get-tiny-image", {}, False),
            Case("slow", slow, {"duration": 2, "steps": 4}, False),
        ], reads=Case("", "echo", {"message": "hi"}),
            once=Case("", "toggle-simulated-logging", {}),
            slow=Case("slow", slow, {"duration": 2, "steps": 4})),
        Server("filesystem", f"{NODE}/mcp-server-filesystem", [allowed], [
            Case("ok", "read_text_file", {"path": f"{allowed}/ok.txt"}, False),
            Case("unknown_tool", "read_fil", {"path": f"{allowed}/ok.txt"}),
            Case("missing_argument", "read_text_file", {}),
            Case("wrong_type", "read_text_file", {"path": 42}),
            Case("missing_file", "read_text_file", {"path": f"{allowed}/nope.txt"}),
            Case("outside", "read_text_file", {"path": "/etc/passwd"}),
            Case("outside_by_link", "read_text_file", {"path": f"{allowed}/link"}),
            Case("outside_by_dots", "read_text_file", {"path": f"{allowed}/../../x"}),
            Case("a_directory", "read_text_file", {"path": f"{allowed}/sub"}),
            Case("domain_failure", "edit_file",
                 {"path": f"{allowed}/ok.txt", "edits": [{"oldText": "zzz", "newText": "y"}]}),
            Case("both_head_and_tail", "read_text_file", {"path": f"{allowed}/ok.txt", "head": 1, "tail": 1}),
            Case("in_part", "read_multiple_files",
                 {"paths": [f"{allowed}/ok.txt", f"{allowed}/nope.txt"]}, False),
            Case("in_the_way", "move_file", {"source": f"{allowed}/ok.txt", "destination": f"{allowed}/sub"}),
            Case("number_as_text", "read_text_file", {"path": f"{allowed}/ok.txt", "head": "1"}, False),
        ], reads=Case("", "read_text_file", {"path": f"{allowed}/ok.txt"}),
            once=Case("", "move_file", {"source": f"{allowed}/ok.txt", "destination": f"{allowed}/moved.txt"})),
        Server("memory", f"{NODE}/mcp-server-memory", [], [
            Case("ok", "create_entities", {"entities": [person]}, False),
            Case("ok_read", "open_nodes", {"names": ["Ada"]}, False),
            Case("unknown_tool", "create_entity", {}),
            Case("missing_argument", "create_entities", {}),
            Case("missing_within", "create_entities", {"entities": [{"name": "a"}]}),
            Case("wrong_type", "create_entities", {"entities": 5}),
            Case("domain_failure", "add_observations",
                 {"observations": [{"entityName": "ghost", "contents": ["x"]}]}),
        ], {"MEMORY_FILE_PATH": str(folder / "memory.json")},
            reads=Case("", "search_nodes", {"query": "nobody"}),
            once=Case("", "create_entities", {"entities": []})),
        Server("sequential-thinking", f"{NODE}/mcp-server-sequential-thinking", [], [
            Case("ok", "sequentialthinking", thought | {"thoughtNumber": 1, "totalThoughts": 2,
                                                        "nextThoughtNeeded": True}, False),
            Case("as_text", "sequentialthinking", thought, False),
            Case("unknown_tool", "sequential_thinking", {}),
            Case("missing_argument", "sequentialthinking", {"thought": "x"}),
            Case("wrong_type", "sequentialthinking",
                 {"thought": "x", "nextThoughtNeeded": "yes", "thoughtNumber": "one", "totalThoughts": 2}),
        ], reads=Case("", "sequentialthinking", thought)),
        Server("git", f"{TOOLS}/venv/bin/mcp-server-git", ["--repository", repo], [
            Case("ok", "git_status", {"repo_path": repo}, False),
            Case("unknown_tool", "git_push", {}),
            Case("missing_argument", "git_diff", {"repo_path": repo}),
            Case("wrong_type", "git_log", {"repo_path": repo, "max_count": "many"}),
            Case("missing_file", "git_add", {"repo_path": repo, "files": ["nope.txt"]}),
            Case("outside", "git_status", {"repo_path": "/tmp"}),
            Case("domain_failure", "git_show", {"repo_path": repo, "revision": "deadbeef"}),
            Case("no_such_branch", "git_checkout", {"repo_path": repo, "branch_name": "nope"}),
            Case("looks_like_an_option", "git_diff", {"repo_path": repo, "target": "--output=/tmp/x"}),
        ], reads=Case("", "git_status", {"repo_path": repo}),
            once=Case("", "git_commit", {"repo_path": repo, "message": "never"})),
        Server("time", f"{TOOLS}/venv/bin/mcp-server-time", ["--local-timezone", "UTC"], [
            Case("ok", "get_current_time", {"timezone": "UTC"}, False),
            Case("unknown_tool", "get_time", {}),
            Case("missing_argument", "get_current_time", {}),
            Case("wrong_type", "get_current_time", {"timezone": 5}),
            Case("domain_failure", "get_current_time", {"timezone": "Mars/Base"}),
            Case("not_a_time", "convert_time",
                 {"source_timezone": "UTC", "time": "25:99", "target_timezone": "UTC"}),
        ], reads=Case("", "get_current_time", {"timezone": "UTC"})),
        Server("fetch", f"{TOOLS}/venv/bin/mcp-server-fetch", ["--allow-private-ips", "--ignore-robots-txt"], [
            Case("ok", "fetch", {"url": f"{local}/page"}, False),
            Case("unknown_tool", "fetsh", {}),
            Case("missing_argument", "fetch", {}),
            Case("wrong_type", "fetch", {"url": f"{local}/page", "max_length": "big"}),
            Case("not_an_address", "fetch", {"url": "not a url"}),
            Case("missing_page", "fetch", {"url": f"{local}/nope"}),
            Case("nobody_there", "fetch", {"url": "http://127.0.0.1:9/"}),
            Case("no_such_host", "fetch", {"url": "http://nohost.invalid/"}),
            Case("slow", "fetch", {"url": f"{local}/slow"}, False),
        ], reads=Case("", "fetch", {"url": f"{local}/page"})),
        Server("fetch-public", f"{TOOLS}/venv/bin/mcp-server-fetch", [], [
            Case("outside", "fetch", {"url": "http://127.0.0.1:9/"}),
        ]),
        Server("sqlite", f"{TOOLS}/venv-sqlite/bin/mcp-server-sqlite", ["--db-path", str(folder / "t.db")], [
            Case("ok", "list_tables", {}, False),
            Case("unknown_tool", "read_qery", {"query": "SELECT 1"}),
            Case("missing_argument", "read_query", {}),
            Case("wrong_type", "read_query", {"query": 5}, error=False),
            # The server says that these went well: `silent = "note"` leaves it at that.
            Case("domain_failure", "read_query", {"query": "SELECT * FROM nope"}, False),
            Case("not_a_query", "read_query", {"query": "DROP TABLE x"}, False),
        ], reads=Case("", "list_tables", {}), repeats=False),
        Server("crash", f"{TOOLS}/venv-crash/bin/mcp-server-sqlite", ["--db-path", str(folder / "c.db")], [
            Case("crash_at_start", "list_tables", {}),
            Case("crash_at_start_again", "list_tables", {}),
        ]),
    ]
