"""The remaining arguments of a parser, and whether a script uses them."""

from __future__ import annotations

from smspec.script.values import UNKNOWN, Value


class RemainingArguments(Value):
    """The remaining arguments of `parse_known_args`; ``is_used``: some code may use them."""

    def __init__(self) -> None:
        self.is_used = False

    def escape(self) -> None:
        self.is_used = True

    def attribute(self, _: str) -> Value:
        self.is_used = True
        return UNKNOWN
