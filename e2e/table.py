#!/usr/bin/env python3
"""Prints what clients see without the guard beside what they see with it, as Markdown.

    e2e/table.py [--client NAME] [--server NAME]
"""

import argparse
from pathlib import Path

from run import CLIENTS, Snapshots

HERE = Path(__file__).resolve().parent


def cell(text):
    if text is None:
        return "–"
    first, _, rest = text.partition("\n")
    text = f"**exception** {first.removeprefix('raised ')}" if first.startswith("raised ") else rest
    if first == "isError: false":
        text = f"*success* {text}"
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= 300 else text[:299] + "…"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=CLIENTS, default="python")
    parser.add_argument("--server", action="append")
    options = parser.parse_args()
    print("| server | case | without | with |\n|---|---|---|---|")
    for path in sorted((HERE / "direct").glob("*.txt")):
        if options.server and path.stem not in options.server:
            continue
        before, after = Snapshots(path), Snapshots(HERE / "expected" / path.name)
        for title in before.sections:
            if "[" not in title:
                cells = (cell(it.expected(title, options.client)) for it in (before, after))
                print(f"| {path.stem} | {title} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
