"""Ways to a tool that take turns, and what was measured on each."""

import os
import statistics
from dataclasses import dataclass, field

import processes
from clients import Client

# After how many seconds the turn of a slow way ends, with fewer calls.
LONGEST_TURN = 0.5


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
        self.client.call()
        before = self.spent()
        took = []
        while len(took) < calls and sum(took) < LONGEST_TURN:
            took.append(self.client.call())
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

    def row(self, server, beside):
        """What was measured, beside another way."""
        return {
            "way": self.title,
            "server": server,
            "ratio": round(ratio(self, beside), 3),
            "p50_ms": round(self.p50(), 4),
            "p99_ms": round(self.p99(), 3),
            "cpu_ms": round(statistics.median(self.cpu), 4),
            "more_cpu_ms": round(more(self, beside), 4),
            "between_cpu_ms": round(statistics.median(self.between), 4),
        }


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


def take_turns(rounds, calls, ways):
    """Each way in turn, the first one another each time; the first turns of all only warm up."""
    for way in ways:
        way.turn(calls)
        way.forget()
    for number in range(rounds):
        first = number % len(ways)
        for way in ways[first:] + ways[:first]:
            way.turn(calls)


def ratio(way, beside):
    """The ratio of the medians, turn by turn: what slows a whole round down is in both."""
    pairs = zip(way.seconds, beside.seconds)
    return statistics.median(statistics.median(one) / statistics.median(other) for one, other in pairs)


def more(way, beside):
    return statistics.median(one - other for one, other in zip(way.cpu, beside.cpu))


def print_table(title, ways, beside):
    print(f"\n| {title} | p50 beside {beside.title} | p50 ms | p99 ms | CPU ms a call | more than {beside.title} | between alone |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for row in (way.row(title, beside) for way in ways):
        print(
            f"| {row['way']} | {row['ratio']:.2f} | {row['p50_ms']:.3f} | {row['p99_ms']:.2f} "
            f"| {row['cpu_ms']:.3f} | {row['more_cpu_ms']:+.3f} | {row['between_cpu_ms']:.3f} |",
            flush=True,
        )
