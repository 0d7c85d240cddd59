"""An explanation of a finding."""

from __future__ import annotations

from smspec.source import Span
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """An effect of the error, or a second position, in the same text or in a different one."""

    message: str
    span: Span | None = None

    def __str__(self) -> str:
        if self.span is None:
            return self.message
        return f"{self.message} ({self.span.file}:{self.span.line}:{self.span.column})"
