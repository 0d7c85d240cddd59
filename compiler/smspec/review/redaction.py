"""Values as a review shows them: JSON without secrets."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.diagnostics.masking import HIDDEN, hidden, without_tokens
from smspec.diagnostics.secrets import is_withheld, option_name, secret_in
from smspec.review.change import Change
from smspec.source.frozen import replace


def safe(name: str, value: object) -> object:
    """Return a JSON value with every secret in it masked; ``name`` is the name of the value."""
    if isinstance(value, str):
        return HIDDEN if is_secret(name, value) else hidden(value)
    if isinstance(value, dict):
        if value.keys() == {"Key", "Value"}:  # a tag is also a name and a value
            return {"Key": value["Key"], "Value": safe(str(value["Key"]), value["Value"])}
        return {without_tokens(str(key)): safe(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return _safe_words(name, value)
    return value


def safe_change(change: Change) -> Change:
    """Return a change with every secret in its names masked; its values are already without."""
    return replace(
        change,
        path=tuple(without_tokens(step) if isinstance(step, str) else step for step in change.path),
        what=without_tokens(change.what),
        brief=without_tokens(change.brief),
    )


def _safe_words(name: str, words: Sequence[object]) -> list[object]:
    """Return the items of a list; in a command line each word is named after the option before it."""
    shown, called = list[object](), name
    for word in words:
        shown.append(safe(called, word))
        called = (option_name(word) if isinstance(word, str) else "") or name
    return shown


def is_secret(name: str, value: object) -> bool:
    """Return whether all of a value is a secret."""
    return isinstance(value, str) and is_withheld(name, value) and hidden(value) == value


def holds_secret(name: str, value: object) -> bool:
    """Return whether a value contains a secret."""
    return isinstance(value, str) and secret_in(name, value) is not None
