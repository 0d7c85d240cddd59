"""Keeps secrets out of what we write ourselves: log lines and the failure file."""

import re

from .lean_typing import Any, List, Mapping, Sequence

MASK = "******"
_SECRET = re.compile(r"pass(word|wd|phrase)|secret|token|credential|(api|private|access|auth)[-_.]?key", re.IGNORECASE)
_HARMLESS = re.compile(
    r"tokeni[sz]|tokens$|(^|[-_.])(arn|parameter|param|file|path|dir|id|ids|type|length)$", re.IGNORECASE
)
_SHORTEST = 6
"""A shorter value is left in running text: it would blacken words that have nothing to do with it."""


def is_secret(key: str) -> bool:
    """Whether a name says that its value is not for everybody."""
    return bool(_SECRET.search(key)) and not _HARMLESS.search(key)


def secret_values(hyperparameters: Mapping[str, Any]) -> List[str]:
    """Return the values, as text, of the hyperparameters that are secrets."""
    return [str(value) for key, value in hyperparameters.items() if is_secret(key)]


def masked_words(words: Sequence[str]) -> List[str]:
    """Return the words of a command with the values of secret options masked."""
    shown = []
    hide = False
    for word in words:
        key, equals, _ = word.partition("=")
        if hide and not word.startswith("--"):
            shown.append(MASK)
            hide = False
        elif word.startswith("-") and is_secret(key.lstrip("-")):
            shown.append(key + equals + MASK if equals else word)
            hide = not equals
        else:
            shown.append(word)
            hide = False
    return shown


def masked_text(text: str, secrets: Sequence[str]) -> str:
    """Return running text with every secret value masked."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, MASK)
    return text
