"""Refuses to be imported where it cannot work, in words that say why."""

from __future__ import annotations

from typing import Any


def _is_main() -> bool:
    known: Any
    try:
        import _interpreters as known  # type: ignore[import-not-found, no-redef, unused-ignore]
    except ImportError:
        try:
            import _xxsubinterpreters as known  # type: ignore[import-not-found, no-redef, unused-ignore]
        except ImportError:
            return True
    return bool(known.get_current() == known.get_main())


if not _is_main():
    raise ImportError(
        "breakfall runs in the main interpreter only: its guards, threads and clock belong to the "
        "whole process. Import it there, or use a process of its own."
    )
