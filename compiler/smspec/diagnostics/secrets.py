"""What looks like a secret: by how it is written, or by its name and its value.

Known formats are known by their own marks, everything else by its name. A name alone is not enough: half of the names
in machine learning have a `token` in them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

# Patterns are texts, and each is looked for only where one of its marks is: most texts never compile one.
_FORMATS: dict[str, tuple[tuple[str, ...], str]] = {
    "an AWS access key": (("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a GitHub token": (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    "a GitLab token": (("glpat-",), r"\bglpat-[A-Za-z0-9_-]{20,}"),
    "a Hugging Face token": (("hf_",), r"\bhf_[A-Za-z0-9]{30,}"),
    "an API key": (("sk-", "k_live_"), r"\b(?:sk-[A-Za-z0-9_-]{20,}|[rs]k_live_[A-Za-z0-9]{20,})"),
    "a Slack token": (
        ("xox", "hooks.slack.com"),
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,}",
    ),
    "a Google API key": (("AIza",), r"\bAIza[A-Za-z0-9_-]{35}"),
    "a private key": (
        ("PRIVATE KEY-----",),
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)",
    ),
    "a JSON Web Token": (("eyJ",), r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+"),
    "a password in a URL": (("@",), r"(?<=://)[^\s/:@\"'`$<>{}]+:[^\s/@\"'`$<>{}]+(?=@[\w.-])"),
    "a Databricks token": (("dapi",), r"\bdapi[0-9a-f]{32}"),
    "an npm token": (("npm_",), r"\bnpm_[A-Za-z0-9]{36}"),
    "a PyPI token": (("pypi-",), r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    "a storage account key": (("AccountKey=",), r"(?<=AccountKey=)[A-Za-z0-9+/]{40,}={0,2}"),
}
"""What it is → marks of which a text has at least one, and how it is written. These are found under any name."""

# Names by their words: `DB_PASSWORD`, `dbPassword` and `db-password` have the same.
_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_SURE = frozenset({"password", "passwd", "passphrase", "pwd"})
_LIKELY = ("apikey", "privatekey", "accesskey", "secretkey", "authkey", "signingkey", "secret", "credential")
# At the end of a name it is one, as in `HF_TOKEN`; before other words it is a piece of text: `token_embedding`.
_LIKELY_LAST = "token"
_AFTER_ALL = frozenset({"value", "key"})
# fmt: off
_HARMLESS_LAST = frozenset((
    "arn", "param", "params", "parameter", "name", "names", "file", "filename", "path", "dir", "url", "uri", "id",
    "ids", "idx", "index", "type", "length", "len", "size", "count", "limit", "num", "ttl", "field", "column", "prefix",
    "suffix", "enabled", "version", "class", "method", "format", "policy", "var", "variable",
))
# fmt: on
_STEMS = ("pass", "pwd", "secret", "token", "credential", "key")
"""Without one of these a text has no name of a secret."""

# What stands for a secret that is kept elsewhere, or for none at all.
_REFERENCE = (
    r"(?is)"
    r"\$\{.*|\$\w+|\{\{.*|<.*>|\[.*\]|arn:.*|(?:s3|https?|file|ssm|secretsmanager|vault|op)://.*|[./~][\w./-]*/.*|\*+|x{3,}"
    r"|true|false|null|none|yes|no|-?[0-9.]{1,5}"
)
# `prod`, `v2`, `8bit`, `2`, `DefaultChain`: what is made by chance mixes letters and figures more.
_WORD = r"(?:[A-Za-z]{1,12}[0-9]{0,2}|[0-9]{1,2}[a-z]{0,4}|(?:[A-Z][a-z]{1,11}[0-9]?|[A-Z]{2,4}(?=[A-Z][a-z]))+)?"
_BETWEEN_WORDS = r"[\s_./+:#-]+"
_SHORTEST_SURE = 3
_SHORTEST_LIKELY = 8
_LEAST_ENTROPY = 3.0
"""Bits for each character; words of a language that name something rarely have more in so few characters."""


def secret_in(name: str, value: str) -> str | None:
    """Return what kind of secret a value looks like, given the name it stands under; None for none."""
    for what, _ in written_secrets(value):
        return what
    return "a secret" if is_named_secret(name, value) else None


def written_secrets(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield what in a text is written as secrets of known formats are, under whatever name; what it is, and where."""
    for what, (marks, pattern) in _FORMATS.items():
        if any(mark in text for mark in marks):
            yield from ((what, found) for found in re.finditer(pattern, text))


def may_name_a_secret(text: str) -> bool:
    """Tell whether a text could hold the name of a secret at all; most do not, and need no closer look."""
    lower = text.lower()
    return any(stem in lower for stem in _STEMS)


def names_a_secret(name: str) -> bool:
    """Tell whether a name is one under which secrets stand."""
    return _strength(name) > 0


def is_named_secret(name: str, value: str) -> bool:
    """Tell whether a value under a name is a secret, and not a reference to one or a harmless word."""
    strength = _strength(name)
    text = value.strip()
    if strength and text.startswith(("[", "- ")):
        return any(is_named_secret(name, item) for item in _items(text))
    if not strength or re.fullmatch(_REFERENCE, text):
        return False
    if strength == 2:
        return len(text) >= _SHORTEST_SURE
    return len(text) >= _SHORTEST_LIKELY and _entropy(text) >= _LEAST_ENTROPY and not _is_words(text)


def _strength(name: str) -> int:
    """Return how surely the name is one of a secret: 2 surely, 1 perhaps, 0 no."""
    if not may_name_a_secret(name):
        return 0
    words = [word.lower() for word in re.findall(_WORDS, name)]
    if not words or words[-1] in _HARMLESS_LAST:
        return 0
    whole = "".join(words)
    if "tokeniz" in whole or "tokenis" in whole or words[-1] == "tokens":
        return 0
    if not _SURE.isdisjoint(words) or "password" in whole:
        return 2
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _AFTER_ALL):
        words.pop()
    return 1 if words[-1].endswith(_LIKELY_LAST) or any(word in whole for word in _LIKELY) else 0


def _items(text: str) -> list[str]:
    """Return the items of a list as it is written in YAML or JSON, without their quotes."""
    separator = r"\n[ \t]*-[ \t]+" if text.startswith("- ") else ","
    return [item.strip("[]-\"' \t\n") for item in re.split(separator, text)]


def _is_words(text: str) -> bool:
    """Tell whether a text is words, such as the name of a scheme or a model, rather than something made by chance."""
    return all(re.fullmatch(_WORD, piece) for piece in re.split(_BETWEEN_WORDS, text))


def _entropy(text: str) -> float:
    """Return Shannon's entropy of the characters, in bits for each."""
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
