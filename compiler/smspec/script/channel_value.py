"""The path of a channel, as a script gets it from a variable, until it reaches a file operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.program import ChannelUse
from smspec.script.values import UNKNOWN, Value, text

if TYPE_CHECKING:
    from smspec.script.call import Call
    from smspec.script.interpreter import Interpreter
    from smspec.source import Span


class ChannelPath(Value):
    """The value of ``SM_CHANNEL_…``, or a path below it, or next to it.

    ``name`` is in capitals. ``may_be_none``: without the channel it is None. ``options``: names of the option of which
    it is the default. ``rest``: what follows the path of the channel; None if unknown.
    """

    def __init__(
        self, name: str, written: str, *, may_be_none: bool, options: tuple[str, ...] = (), rest: str | None = ""
    ) -> None:
        self.name = name
        self.written = written
        self.may_be_none = may_be_none
        self.options = options
        self.rest = rest

    def as_default(self, options: tuple[str, ...]) -> ChannelPath:
        """Return it as the default of an option."""
        return ChannelPath(
            self.name, self.written, may_be_none=self.may_be_none, options=(*self.options, *options), rest=self.rest
        )

    def followed_by(self, rest: str | None) -> ChannelPath:
        """Return it with more text; it is a string then, not None."""
        whole = None if rest is None or self.rest is None else self.rest + rest
        return ChannelPath(self.name, self.written, may_be_none=False, options=self.options, rest=whole)

    def note(self, run: Interpreter, operation: str, place: Span) -> None:
        """Record that it certainly reaches an operation."""
        run.note_use(
            ChannelUse(
                name=self.name,
                written=self.written,
                operation=operation,
                rest=self.rest,
                may_be_none=self.may_be_none,
                options=self.options,
                place=place,
            )
        )


def joined_below(first: Value, others: tuple[Value, ...]) -> Value:
    """Return the result of ``os.path.join`` of a channel's path and other parts."""
    if not isinstance(first, ChannelPath):
        return UNKNOWN
    rest: str | None = ""
    for other in others:
        part = text(other)
        if part is None:
            rest = None
        elif part.startswith("/"):
            return UNKNOWN
        elif rest is not None:
            rest += f"/{part}"
    return first.followed_by(rest)


class Namespace(Value):
    """The result of ``parse_args``: unknown, except defaults that are paths of channels."""

    def __init__(self, defaults: dict[str, ChannelPath]) -> None:
        self._defaults = dict(defaults)

    def escape(self) -> None:
        self._defaults.clear()

    def attribute(self, name: str) -> Value:
        return self._defaults.get(name, UNKNOWN)

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        self._defaults.pop(name, None)

    def method(self, _: str, call: Call) -> Value:
        self.escape()
        return call.unknown_result()
