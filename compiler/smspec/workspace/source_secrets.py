"""Secrets in the files of a source: the certain ones, and a few formats that are likely to be secrets.

Entropy and names of variables are not evidence here: in code they are mostly examples. A pattern needs a marker, such
as ``AKIA``, because a source may have megabytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from smspec.diagnostics.secret_formats import CERTAIN_FORMATS, CERTAIN_NAMED, secrets_in
from smspec.source.frozen import dataclass

# Formats and the marks that a file is searched for: fewer than in a spec, since each costs time in every file.
_LIKELY = {
    "a webhook": "hooks.slack.com /api/webhooks/ webhook.office",
    "a token of a model service": "nvapi- gsk_ wandb_v1_ lsv2_",
    "a mail service key": "SG.",
    "a service token": "hvs. glsa_ atlasv1.",
}
_BEGINNING = 8192
_MARKS = {
    what: tuple(mark.encode() for mark in marks.split())
    for what, marks in (CERTAIN_FORMATS | _LIKELY | CERTAIN_NAMED).items()
}


@dataclass(frozen=True, slots=True)
class SourceSecret:
    """``what`` is in line ``line`` of a file of the source. The secret itself is not kept."""

    path: str
    line: int
    what: str
    is_certain: bool


def is_text(content: bytes) -> bool:
    """Return whether to search a file at all: a match in a binary file is not a secret."""
    return b"\0" not in content[:_BEGINNING]


def marked_formats(content: bytes) -> list[str]:
    """Return the formats whose marks are in a file: for each, all of it has to be searched."""
    return [what for what, marks in _MARKS.items() if any(mark in content for mark in marks)]


def secrets_of_file(path: str, content: bytes, marked: Sequence[str]) -> list[SourceSecret]:
    """Return the secrets of these formats in a file, in the order of the lines."""
    text = content.decode("utf-8", "replace")
    found = secrets_in(text, marked)
    places = dict.fromkeys((text.count("\n", 0, start) + 1, what) for start, what in sorted(found))
    return [SourceSecret(path, line, what, what not in _LIKELY) for line, what in places]
