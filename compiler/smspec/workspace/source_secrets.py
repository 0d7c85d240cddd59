"""Secrets in the files of a source: only known formats, or values directly after a known name.

No entropy, no names of variables, no passwords in URLs: in code these are mostly tests, examples, and hashes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from smspec.diagnostics.secret_formats import written_secrets
from smspec.source.frozen import dataclass

# Formats and the marks that a file is searched for: fewer than in a spec, since each costs time in every file.
_CERTAIN = {
    "an AWS access key": "AKIA ASIA",
    "a GitHub token": "ghp_ gho_ ghs_ github_pat_",
    "a GitLab token": "glpat-",
    "a Hugging Face token": "hf_",
    "an API key": "sk-proj- sk-ant- sk-or- sk- sk_live_ rk_live_",
    "a Slack token": "xoxb- xoxp- xoxa- xapp-",
    "a Google credential": "AIza GOCSPX-",
    "a registry token": "npm_ pypi-AgE dckr_pat_",
    "a cloud credential": "dapi Q~",
    "a private key": "PRIVATE AGE-SECRET",
}
_LIKELY = {
    "a webhook": "hooks.slack.com /api/webhooks/ webhook.office",
    "a token of a model service": "nvapi- gsk_ wandb_v1_ lsv2_",
    "a mail service key": "SG.",
    "a service token": "hvs. glsa_ atlasv1.",
}
# Known only by a name: marks, and pattern.
_NAMED = {
    "an AWS secret key": (
        "aws_secret_access AWS_SECRET_ACCESS",
        r"(?i)aws_secret_access_key[\"']?\s{0,8}[=:,]\s{0,8}[\"']?(?=[^\s\"']{0,38}[0-9])(?![^\s\"']*EXAMPLE)"
        r"(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    "a W&B key": (
        "WANDB wandb",
        r"(?i)wandb(?:_api_key|\.login\(\s{0,8}key|[_.]api[_.]key)[\"']?\]?\s{0,8}[=:,]\s{0,8}[\"']?"
        r"(?P<value>[0-9a-f]{40})\b",
    ),
}
_KEY_WITH_BODY = (
    r"AGE-|-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\\nr\"'+,]*"
    r"(?:[A-Za-z-]+: [^\n]*[\s\\nr\"'+,]+)*[A-Za-z0-9+/=]{40}"
)
_BEGINNING = 8192
_MARKS = {
    what: tuple(mark.encode() for mark in marks.split())
    for what, marks in (*_CERTAIN.items(), *_LIKELY.items(), *((what, marks) for what, (marks, _) in _NAMED.items()))
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
    formats = [what for what in marked if what not in _NAMED]
    found = [(match.start(), what) for what, match in written_secrets(text, formats) if _is_whole(what, match[0])]
    for what in set(marked).intersection(_NAMED):
        found += [(match.start("value"), what) for match in re.finditer(_NAMED[what][1], text)]
    places = dict.fromkeys((text.count("\n", 0, start) + 1, what) for start, what in sorted(found))
    return [SourceSecret(path, line, what, what not in _LIKELY) for line, what in places]


def _is_whole(what: str, text: str) -> bool:
    """Return whether a private key has a body; code that reads keys contains their first lines."""
    return what != "a private key" or re.match(_KEY_WITH_BODY, text) is not None
