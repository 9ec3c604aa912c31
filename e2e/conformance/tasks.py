"""The extension for tasks: tools whose result is fetched later, and the methods to fetch it with."""

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from content import elicitation, said
from tools import NAME, Tool, asks, declared, missing

EXTENSION = "io.modelcontextprotocol/tasks"
_CONFIRM = {"type": "boolean"}
_running = {}


@dataclass
class Task:
    """`outcome` is the result, or the error, or nothing yet; `waiting` holds unanswered questions."""

    outcome: dict = field(default_factory=dict)
    waiting: dict = field(default_factory=dict)
    cancelled: bool = False
    # When it is done, by the clock; never while a question is open.
    due: float = 0
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def status(self):
        if self.cancelled:
            return "cancelled"
        if self.waiting:
            return "input_required"
        if anyio.current_time() < self.due:
            return "working"
        return "failed" if "error" in self.outcome else "completed"

    def shown(self):
        now = datetime.now(UTC).isoformat()
        times = {"createdAt": self.created.isoformat(), "lastUpdatedAt": now, "ttlMs": 60_000, "pollIntervalMs": 100}
        return {"taskId": self.name, "status": self.status, **times}

    def detailed(self):
        more = {"input_required": {"inputRequests": self.waiting}}
        if self.status in ("completed", "failed"):
            more = {self.status: self.outcome}
        return {"resultType": "complete", **self.shown(), **more.get(self.status, {})}


def can(ctx):
    return EXTENSION in declared(ctx).get("extensions", {})


def started(ctx, outcome, seconds=0.0, waiting=None, required=False):
    """A task where the client knows tasks, otherwise the result at once."""
    if not can(ctx):
        if required:
            raise missing(extensions={EXTENSION: {}})
        return outcome["result"]
    task = Task(outcome, dict(waiting or {}), due=anyio.current_time() + seconds)
    _running[task.name] = task
    return {"resultType": "task", **task.shown()}


async def greets(_ctx, arguments):
    return said(f"Hello, {arguments['name']}!")


async def computes(ctx, arguments):
    return started(ctx, {"result": said(f"computed {arguments.get('label')}")}, arguments.get("seconds", 0))


async def fails(ctx, _):
    return started(ctx, {"result": said("the job failed", isError=True)}, 0.2, required=True)


async def breaks(ctx, _):
    return started(ctx, {"error": {"code": types.INTERNAL_ERROR, "message": "broken"}}, 0.2, required=True)


async def deletes(ctx, arguments):
    question = {"confirm": elicitation(f"Delete {arguments['filename']}?", confirm=_CONFIRM)}
    return started(ctx, {"result": said("deleted")}, waiting=question)


async def wants_two(ctx, _):
    questions = {key: elicitation(f"The {key}?", confirm=_CONFIRM) for key in ("first", "second")}
    return started(ctx, {"result": said("both answered")}, waiting=questions)


async def asks_first(ctx, arguments):
    def then(answers):
        name = answers["user_name"]["content"]["name"]
        return started(ctx, {"result": said(f"Hello, {name}!")}, 0.2, required=True)

    return await asks(NAME, then)(ctx, arguments)


ANYTHING = {"type": "object", "additionalProperties": True}
TASK_TOOLS = {
    "greet": Tool("greets at once", greets, {"type": "object", "properties": {"name": {"type": "string"}}}),
    "slow_compute": Tool("takes as long as it is told", computes, ANYTHING),
    "failing_job": Tool("fails as a task", fails),
    "protocol_error_job": Tool("breaks as a task", breaks),
    "confirm_delete": Tool("asks during the task", deletes, ANYTHING),
    "multi_input": Tool("asks twice during the task", wants_two),
    "test_tool_with_task": Tool("asks, then is a task", asks_first),
}


def found(ctx):
    """The task of a request. The SDK does not hold the header of these methods to the body."""
    if not can(ctx):
        raise missing(extensions={EXTENSION: {}})
    name = ctx.params.get("taskId")
    if ctx.request is not None and ctx.request.headers.get("mcp-name") != name:
        raise MCPError(types.HEADER_MISMATCH, "Mcp-Name does not match taskId")
    if name not in _running:
        raise MCPError(types.INVALID_PARAMS, "no such task")
    return _running[name]


async def get(ctx, _):
    return found(ctx).detailed()


async def update(ctx, _):
    task = found(ctx)
    for key in ctx.params.get("inputResponses") or {}:
        task.waiting.pop(key, None)
    return {"resultType": "complete"}


async def cancel(ctx, _):
    task = found(ctx)
    task.cancelled = task.status not in ("completed", "failed")
    return {"resultType": "complete"}


METHODS = {"tasks/get": get, "tasks/update": update, "tasks/cancel": cancel}
