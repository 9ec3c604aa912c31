#!/usr/bin/env python3
"""Ten thousand calls, sixteen under way at a time: each is answered once, with its own words.

    e2e/pipeline.py [--calls N] [--deep N] [-- /path/to/breakfall guard --]
"""

import argparse
import sys
import time

from servers import NODE
from wire import Wire, command_line, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--deep", type=int, default=16)
    own, guard = command_line(sys.argv[1:])
    options = parser.parse_args(own)

    wire = Wire([*guard, f"{NODE}/mcp-server-everything"])
    wire.initialize()
    wire.arrivals.queue.clear()
    asked = {}
    started = time.monotonic()
    answered = 0
    while answered < options.calls:
        while len(asked) - answered < options.deep and len(asked) < options.calls:
            message = f"call {len(asked)}"
            asked[wire.call("echo", {"message": message})] = message
        number, _ = wire.arrivals.get(timeout=60)
        if number is None:
            break
        answered += number in asked
    seconds = time.monotonic() - started
    time.sleep(0.5)  # for a second reply to the last ones
    replies = {number: wire.replies.get(number, []) for number in asked}
    wire.close()

    lost = [number for number, found in replies.items() if not found]
    twice = [number for number, found in replies.items() if len(found) > 1]
    wrong = [n for n, found in replies.items() if found and text(found[0]) != f"Echo: {asked[n]}"]
    strays = [number for number in wire.replies if number not in asked and number != 1]
    for name, numbers in (("lost", lost), ("answered twice", twice), ("wrong", wrong), ("never asked", strays)):
        for number in numbers[:3]:
            print(f"{name}: {number}: {[text(reply) for reply in wire.replies.get(number, [])]}")
    print(f"{len(asked)} calls in {seconds:.1f} s, {len(asked) / seconds:.0f} a second")
    failed = len({*lost, *twice, *wrong, *strays}) + (options.calls - len(asked))
    print(f"{options.calls - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
