"""What was found in a file or an answer: a request, and what of the source is no part of it."""

from __future__ import annotations

from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.source.path import dotted


class RequestNotFound(Exception):
    """There is no training job in the source; the text says why."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A part of the source that the spec does not have, and why. ``path`` is in the words of the source."""

    path: Path
    why: str

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A CreateTrainingJob request and where it came from.

    ``form`` names the source in words. ``left_out`` are members that are no part of any request: they are told in one
    line. ``stem`` is what the job is named after when the request has no name. ``has_tags`` False: the source does not
    say which tags the job has.
    """

    form: str
    request: dict[str, object]
    lost: tuple[Lost, ...] = ()
    left_out: tuple[str, ...] = ()
    region: str | None = None
    stem: str = ""
    has_tags: bool = True
