"""The processes below one, and which of them is the server."""

import os


def _stat(pid):
    """The parent, the state and the start time of a process, or nothing when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[1]), fields[0], fields[19]
    except (OSError, ProcessLookupError, IndexError):
        return None


def below(root):
    """Every living descendant, as pairs that name a process even when its number is used again."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := _stat(name)) and found[1] != "Z":
            children.setdefault(found[0], []).append((int(name), found[2]))
    found, waiting = [], [root]
    while waiting:
        for process in children.get(waiting.pop(), []):
            found.append(process)
            waiting.append(process[0])
    return found


def alive(process):
    """A zombie counts as gone: who reaps it is not the guard's to decide once it is dead."""
    pid, started = process
    found = _stat(pid)
    return found is not None and found[2] == started and found[1] != "Z"


def arguments(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def servers(root, program):
    """The processes that run `program` themselves or through their interpreter: the guard also has
    the program's name among its arguments, further back."""
    return [pid for pid, _ in below(root) if program in arguments(pid)[:2]]


def server(root, program):
    """The first of them."""
    return next(iter(servers(root, program)), None)
