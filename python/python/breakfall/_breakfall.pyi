"""The extension: what `breakfall.Guard` and the nodes stand on."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, final

__all__ = [
    "Answer",
    "Guard",
    "Output",
    "Reply",
    "__version__",
    "after_fork",
    "after_fork_in_parent",
    "before_fork",
    "close",
    "redact",
    "speak",
]

__version__: str

@final
class Reply:
    """The answer to a call, under its id."""

    @property
    def id(self) -> str:
        """The caller's id."""
    @property
    def tool(self) -> str:
        """The name that was called."""
    @property
    def text(self) -> str:
        """What the model is told."""
    @property
    def is_error(self) -> bool:
        """Whether nothing came of the call."""
    @property
    def success(self) -> bool:
        """Whether everything that was asked for was done."""
    @property
    def output(self) -> str | None:
        """What the tool returned, as a text; on partial success too."""
    @property
    def error(self) -> str | None:
        """What went wrong, in the voice's words; on partial success too."""
    @property
    def value(self) -> Any:
        """What the function returned, for the program."""
    @property
    def exception(self) -> BaseException | None:
        """What the function raised, for the program."""
    @property
    def kind(self) -> str | None:
        """Which way it failed."""
    @property
    def disposition(self) -> Literal["recoverable", "pause", "fatal"] | None:
        """Whether the run goes on."""
    @property
    def is_fatal(self) -> bool:
        """Whether the run must stop."""
    @property
    def reference(self) -> str | None:
        """The hash that leads from this text to the log and the record."""
    @property
    def attempts(self) -> int:
        """How many attempts there were."""
    def says(self, text: str) -> bool:
        """Whether this is all that the model is told."""
    def payload(self, came: list[Any]) -> list[Any] | None:
        """What a door passes on, without secrets; ``None`` where it is as it came. It is a list,
        and empty where nothing of it is passed on."""
    def failure(self) -> dict[str, Any] | None:
        """The failure as the developer sees it, or ``None``."""
    def message(self, shape: str) -> Any:
        """The message that answers the call, in a provider's shape: ``openai``,
        ``openai_responses``, ``anthropic``, ``gemini``, ``mcp`` or ``langchain``."""

@final
class Output:
    """What a tool returns when a value alone does not say it all.

    ``text`` is what the model gets; ``value`` is what the program gets; ``problems`` are the items
    that failed beside others, each with its exception; ``of`` is how many items there were.
    """

    def __new__(
        cls,
        text: str,
        value: Any = None,
        *,
        problems: dict[str, BaseException] | None = None,
        of: int | None = None,
        payload: Any = None,
        is_error: bool = False,
    ) -> Output: ...
    @property
    def text(self) -> str: ...
    @property
    def value(self) -> Any: ...
    @property
    def problems(self) -> dict[str, BaseException] | None: ...
    @property
    def of(self) -> int | None: ...
    @property
    def payload(self) -> Any: ...
    @property
    def is_error(self) -> bool: ...

@final
class Answer:
    def poll(self, waiting: Any, event_loop: Any) -> list[Reply] | None: ...
    def close(self) -> None: ...

@final
class Guard:
    def __new__(
        cls,
        options: Mapping[str, Any],
        passes: tuple[type[BaseException], ...],
        told: tuple[type[BaseException], ...],
        declared: type[BaseException],
    ) -> Guard: ...
    def add(
        self,
        name: str,
        description: str,
        schema: Any,
        effect: str,
        function: Callable[[dict[str, Any], Any], Any] | None,
        coroutine: Callable[[dict[str, Any], Any], Any] | None,
        accepts: Callable[[dict[str, Any]], bool] | None,
    ) -> None: ...
    def call(self, asked: tuple[Any, ...]) -> Reply: ...
    def batch(self, asked: list[tuple[Any, ...]]) -> list[Reply]: ...
    def start(self, asked: list[tuple[Any, ...]], event_loop: Any) -> list[Reply] | Answer: ...
    @staticmethod
    def check(options: Mapping[str, Any]) -> None: ...
    @staticmethod
    def check_tool(name: str, schema: Any, effect: str) -> None: ...
    def clean(self, words: str) -> str: ...
    def tools(self) -> list[dict[str, Any]]: ...
    def enable(self, name: str) -> None: ...
    def disable(self, name: str) -> None: ...
    def remove(self, name: str) -> None: ...
    def end_run(self, run: str | None) -> None: ...
    def counts(self) -> dict[str, int]: ...
    def summary(self) -> dict[str, int]: ...
    def records(self, tool: str | None = None) -> list[dict[str, Any]]: ...
    def stragglers(self) -> tuple[int, int]: ...
    def lost_records(self) -> int: ...

def redact(text: str) -> str:
    """The text without its secrets."""

def speak(preset: str, tool: str, error_type: str, message: str) -> str: ...
def after_fork() -> None: ...
def after_fork_in_parent() -> None: ...
def before_fork() -> None: ...
def close() -> None: ...
