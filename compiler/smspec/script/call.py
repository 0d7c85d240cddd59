"""A call in a script, as the function that handles it sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.call_effects import ENDING_WORDS
from smspec.script.program import Stop
from smspec.script.sequences import items
from smspec.script.values import UNKNOWN, Value, text

if TYPE_CHECKING:
    import ast

    from smspec.script.interpreter import Interpreter
    from smspec.source import Span


class Call:
    """``arguments`` by position, ``keywords`` by name; ``is_whole``: no ``*`` or ``**`` hides more of them."""

    def __init__(
        self,
        run: Interpreter,
        node: ast.Call,
        arguments: tuple[Value, ...],
        keywords: dict[str, Value],
        is_whole: bool,
    ) -> None:
        self.run = run
        self.node = node
        self.arguments = arguments
        self.keywords = keywords
        self.is_whole = is_whole

    @property
    def place(self) -> Span:
        return self.run.place(self.node)

    @property
    def is_certain(self) -> bool:
        """Whether the call happens in every run of the script."""
        return self.run.is_certain

    def argument(self, index: int, name: str) -> Value | None:
        """Return an argument that is passed by position or by name."""
        return self.arguments[index] if index < len(self.arguments) else self.keywords.get(name)

    def reads_arguments(self, why_unknown: str) -> bool:
        """Return whether this call certainly reads the command line; record why it does not, or may not.

        ``why_unknown``: what the reader itself knows against it, as the end of a sentence, or empty.
        """
        if not why_unknown and self.run.is_blind:
            why_unknown = self.run.why_blind or "the script gets at its own names by `globals`, `exec`, or the like"
        if not why_unknown and not self.is_certain:
            why_unknown = "smspec cannot be sure that every run of the script gets here"
        if why_unknown:
            self.run.stops.append(Stop(reason=why_unknown, place=self.place))
        return not why_unknown

    def unknown_result(self) -> Value:
        """Let all arguments escape, and return an unknown value."""
        for value in (*self.arguments, *self.keywords.values()):
            self.hands_over_words(value)
            value.escape()
        return UNKNOWN

    def hands_over_words(self, value: Value) -> None:
        """Record that the script may end where the called function uses a list as its command line."""
        words = items(value) or ()
        if any(word.startswith(ENDING_WORDS) for word in map(text, words) if word is not None):
            self.run.ends()
