"""How a tool says on purpose that it failed."""

from __future__ import annotations

from collections.abc import Sequence


class Failure(Exception):
    """Raised by a tool to tell the model why it failed.

    ``message`` is for the model, quoted and bounded. Any other exception is read by its type, its
    codes and its causes, and its text stays with the developer.

    >>> raise Failure("start the engine first", kind="precondition")  # doctest: +SKIP
    """

    #: The guard's own words for another exception, which is its cause.
    _is_translated = False

    def __init__(
        self,
        message: str = "",
        *,
        kind: str = "execution",
        resource: str | None = None,
        wait: float | None = None,
        problems: Sequence[tuple[str, str]] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: One of the kinds in docs/errors.md: ``not_found``, ``precondition``, ``permission``, …
        self.kind = kind
        #: What is missing, denied or in the way.
        self.resource = resource
        #: How many seconds to wait before the call may pass.
        self.wait = wait
        #: What is wrong with arguments: pairs of a name and a remark.
        self.problems = list(problems) if problems else None
