"""What a script asks of AWS, found in the text of its modules without following it."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.source import Span
from smspec.source.frozen import dataclass

GAP = "\0"
"""Stands for any text in a text of which only parts are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsCall:
    """``owner``: the kind of object, such as ``s3``, ``s3.Bucket``, or a module; ``arguments`` by name, then by place.

    ``given`` are the texts of its arguments as far as they are known, with a `GAP` for each unknown part; entries of
    mappings by both names, such as ``CopySource.Bucket``, or by the position of the argument. ``region``: the region
    of the client, if it is written. ``credentials``: why those of the job do not apply; empty if they do.
    """

    owner: str
    method: str
    given: Mapping[str, str]
    positional: tuple[str, ...]
    region: str
    place: Span
    credentials: str = ""

    @property
    def name(self) -> str:
        """The call in a message."""
        return f"{self.owner}.{self.method}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadUse:
    """A use of AWS of which the call is unknown: the end of a sentence. ``method``: what may be called, if it is one.

    An attribute that is no method looks the same, so a reader must know the method.
    """

    reason: str
    place: Span
    method: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCalls:
    """All calls in the modules of a script, in their order; and what could not be read."""

    calls: tuple[AwsCall, ...] = ()
    unread: tuple[UnreadUse, ...] = ()
