"""The words that a parser leaves over, and whether a program looks at them."""

from __future__ import annotations

from smspec.script.values import UNKNOWN, Value


class LeftOver(Value):
    """What `parse_known_args` leaves over; ``is_used``: somebody may do something with it."""

    def __init__(self) -> None:
        self.is_used = False

    def escape(self) -> None:
        self.is_used = True

    def attribute(self, _: str) -> Value:
        self.is_used = True
        return UNKNOWN
