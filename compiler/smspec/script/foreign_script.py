"""A script that is not Python: whether the system can start it, and whether it notices failures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.source import Span
from smspec.source.frozen import dataclass

MOST_BYTES = 1 << 16
"""A longer script is not checked."""

_COMMANDS = r"accelerate|aws|cp|curl|deepspeed|make|mpirun|mv|pip3?|python3?|tar|torchrun|unzip|wget"
"""Commands that may fail in a job, and whose failure matters."""

_LINE = rf"(?:[A-Za-z_]\w*=\S*[ \t]+)*({_COMMANDS})(?:[ \t][^\n]*)?"
_NOTICES = r"(?m)^\s*set\s+(?:-[a-z]*e|-o\s+errexit)|^#![^\n]*\s-[a-z]*e|\btrap\b[^\n]*\bERR\b|\$\?|\bPIPESTATUS\b"
_HANDLED = r"\|\||&&|;|(?<!\d)&\s*$"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignScript:
    """``name``: its path in the source; ``content`` its bytes, empty if it is too long to check."""

    name: str
    file: str
    content: bytes = b""

    @property
    def has_broken_interpreter(self) -> bool:
        """Whether its first line names an interpreter that ends with a carriage return, which no system has."""
        first, ending, _ = self.content.partition(b"\n")
        return bool(ending) and first.startswith(b"#!") and first.endswith(b"\r")

    def ignored_failures(self) -> Iterator[tuple[str, Span]]:
        """Yield (command, place) for commands of a shell script whose failure it ignores."""
        text = self.content.decode("utf-8", "replace").replace("\r\n", "\n")
        if not self.name.endswith(".sh") or re.search(_NOTICES, text) or "<<" in text:
            return
        lines = _logical_lines(text)
        for number, line in lines[:-1]:
            match = re.fullmatch(_LINE, line)
            if match and not re.search(_HANDLED, line):
                yield match[1], Span(self.file, number, 1, number, 2)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines of a script with their numbers, without comments; continued ones are one line."""
    lines: list[tuple[int, str]] = []
    begun, rest = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        begun = begun or number
        if line.endswith("\\"):
            rest += line[:-1]
            continue
        rest += line
        if rest.strip() and not rest.lstrip().startswith("#"):
            lines.append((begun, rest.rstrip()))
        begun, rest = 0, ""
    return lines
