"""What stands beside a finding to explain it."""

from __future__ import annotations

from smspec.source import Span
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """What helps to understand a finding; mostly a second place, be it in another text."""

    message: str
    span: Span | None = None
