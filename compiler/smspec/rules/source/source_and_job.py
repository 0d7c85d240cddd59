"""The texts of a source and the job that uses them, as rules about what the source mentions see both."""

from __future__ import annotations

from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass
from smspec.spec.model import JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAndJob:
    """``texts``: all text files of the source."""

    job: JobSpec
    texts: tuple[SourceText, ...]

    @property
    def modules(self) -> tuple[SourceText, ...]:
        """The Python files."""
        return tuple(text for text in self.texts if text.name.endswith(".py"))


def file_name(name: str) -> str:
    """Return the name of a file in a message."""
    return name.replace("\\", "/").rpartition("/")[2]


def place_in(text: SourceText, start: int, end: int) -> Span:
    """Return the position of a part of one line of a text."""
    line = text.text.count("\n", 0, start) + 1
    column = start - (text.text.rfind("\n", 0, start) + 1) + 1
    return Span(text.name, line, column, line, column + end - start)
