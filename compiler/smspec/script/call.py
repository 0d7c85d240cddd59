"""A call in a program, as those see it who know what is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.values import UNKNOWN, Value

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
        """Whether the call happens in every run of the program."""
        return self.run.is_certain

    def argument(self, index: int, name: str) -> Value | None:
        """Return an argument that is given by position or by name."""
        return self.arguments[index] if index < len(self.arguments) else self.keywords.get(name)

    def lost(self) -> Value:
        """Let everything that is passed on be somebody else's, and nothing be known of what comes back."""
        for value in (*self.arguments, *self.keywords.values()):
            value.escape()
        return UNKNOWN
