"""Secrets that are certain: known formats that nothing else has, or values directly after a known name.

No entropy, no names of variables, no passwords in URLs: these may be tests, examples, and hashes. What is certain is an
error in a request, an image, and a source; the rest is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from smspec.diagnostics.secret_formats import written_secrets

FORMATS = {
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
"""Format → the marks of which a text has one."""

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
NAMED = {what: marks for what, (marks, _) in _NAMED.items()}
"""The same for secrets that are known only by a name in front of them."""

_KEY_WITH_BODY = (
    r"AGE-|-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\\nr\"'+,]*"
    r"(?:[A-Za-z-]+: [^\n]*[\s\\nr\"'+,]+)*[A-Za-z0-9+/=]{40}"
)


def secrets_in(text: str, formats: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield where a secret of one of these formats begins, and its format, in any order."""
    for what, match in written_secrets(text, [what for what in formats if what not in _NAMED]):
        if _is_whole(what, match[0]):
            yield match.start(), what
    for what in _NAMED.keys() & set(formats):
        for match in re.finditer(_NAMED[what][1], text):
            yield match.start("value"), what


def certain_secret(name: str, value: str) -> str | None:
    """Return the kind of secret that a value with a name certainly contains; None for none."""
    text = f"{name}={value}"
    marked = [what for what, marks in (FORMATS | NAMED).items() if any(mark in text for mark in marks.split())]
    return next((what for _, what in sorted(secrets_in(text, marked))), None) if marked else None


def _is_whole(what: str, text: str) -> bool:
    """Return whether a private key has a body; code that reads keys contains their first lines."""
    return what != "a private key" or re.match(_KEY_WITH_BODY, text) is not None
