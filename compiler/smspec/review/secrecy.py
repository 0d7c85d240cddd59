"""Values as a review shows them: JSON without secrets."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.diagnostics.masking import HIDDEN, hidden
from smspec.diagnostics.secrets import secret_in


def safe(name: str, value: object) -> object:
    """Return a JSON value with every secret in it hidden; ``name`` is what the value stands under."""
    if isinstance(value, str):
        return HIDDEN if is_secret(name, value) else hidden(value)
    if isinstance(value, dict):
        if value.keys() == {"Key", "Value"}:  # a tag is a name and a value, too
            return {"Key": value["Key"], "Value": safe(str(value["Key"]), value["Value"])}
        return {key: safe(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return _safe_words(name, value)
    return value


def _safe_words(name: str, words: Sequence[object]) -> list[object]:
    """Return the items of a list; in a command line each word is called after the option before it."""
    shown, called = list[object](), name
    for word in words:
        shown.append(safe(called, word))
        is_option = isinstance(word, str) and word.startswith("--") and "=" not in word
        called = str(word).lstrip("-") if is_option else name
    return shown


def is_secret(name: str, value: object) -> bool:
    """Tell whether all of a value is to be hidden."""
    return isinstance(value, str) and secret_in(name, value) is not None and hidden(value) == value


def holds_secret(name: str, value: object) -> bool:
    """Tell whether there is a secret in a value."""
    return isinstance(value, str) and secret_in(name, value) is not None
