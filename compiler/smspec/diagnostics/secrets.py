"""Detect secrets: strings in a known format, or values with a secret name that look like one.

A name alone is not enough to report a value: half of the names in machine learning contain `token` or `key`. Showing a
value is stricter: with a secret name it is masked unless it clearly is not a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from smspec.diagnostics.randomness import entropy, is_random, is_words
from smspec.diagnostics.secret_formats import written_secrets
from smspec.diagnostics.secret_stand_ins import is_placeholder, is_reference
from smspec_runtime.secret_names import LIKELY, SURE, strength

_SHORTEST_SURE = 3
_SHORTEST_LIKELY = 8
_LEAST_ENTROPY = 2.5
"""Bits per character. A dozen random characters have more; `aaaa-1111-aaaa` has less."""
_NUMBER = r"[-+]?[0-9._,]+(?:[eE][-+]?[0-9]+)?[kKMGTB%]?"
_SHORT_NUMBER = r"-?[0-9.]{1,5}"
# Values that enable or disable a service instead of a key.
_SETTING = r"(?i)disabled?|enabled?|default|auto|required|optional|offline|online|anonymous|dry-?run"
_OPTION = r"--[^=\s]+|-[A-Za-z][^=\s]{2,}"
# After any other word, such as `token`, the name may be about tokens in a text.
_CREDENTIAL = r"(?i)(?:secret|key|pat|credentials?|creds?|bearer|jwt)[0-9]*"


def secret_in(name: str, value: str) -> str | None:
    """Return what kind of secret a value looks like, given its name; None for none."""
    for what, _ in written_secrets(value):
        return what
    return "a secret" if is_named_secret(name, value) else None


def option_name(word: str) -> str:
    """Return the name of an option in a command whose value is the next word; else empty."""
    return word.lstrip("-") if re.fullmatch(_OPTION, word) else ""


def names_a_secret(name: str) -> bool:
    """Return whether a name is typical for secrets."""
    return strength(name) > 0


def is_named_secret(name: str, value: str) -> bool:
    """Return whether a value with a name is a secret, not a reference, a placeholder, or a harmless word."""
    return _is_any(_is_reported, strength(name), name, value)


def is_withheld(name: str, value: str) -> bool:
    """Return whether a value with a name must not be shown: every reported one, and all possible ones."""
    return _is_any(_is_withheld, strength(name), name, value)


def _is_any(is_secret: Callable[[int, str, str], bool], sure: int, name: str, value: str) -> bool:
    """Return the result of ``is_secret`` for a value, or for any item of a list."""
    text = value.strip()
    items = _items(text) if text.startswith(("[", "- ")) else [text]
    return sure > 0 and any(
        is_secret(sure, name, item) for item in items if item.strip("\\\"'") and not is_reference(item)
    )


def _is_reported(sure: int, _name: str, text: str) -> bool:
    if is_placeholder(text) or re.fullmatch(_SHORT_NUMBER, text):
        return False
    if sure == SURE:
        return len(text) >= _SHORTEST_SURE
    if sure == LIKELY:
        return _is_no_word(text)
    return is_random(text)


def _is_withheld(sure: int, name: str, text: str) -> bool:
    if sure == SURE:
        return True
    if sure < LIKELY:
        return is_random(text)
    if re.fullmatch(_NUMBER, text) or re.fullmatch(_SETTING, text):
        return False
    return not is_words(text) or ("/" not in text and _is_credential(name))


def _is_credential(name: str) -> bool:
    """Return whether a name is that of a credential, not of a token in a text, where both are possible."""
    last = re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))[-1]
    # Tokens of a text are plural; `HF_TOKENS` are credentials, `initializer_tokens` are not.
    plural = f"{name}{'S' if name[-1:].isupper() else 's'}"
    is_token = last.lower().endswith("token") and strength(plural) >= LIKELY
    return is_token or re.fullmatch(_CREDENTIAL, last) is not None


def _is_no_word(text: str) -> bool:
    if len(text) < _SHORTEST_LIKELY or text.isdigit():
        return False
    return entropy(text) >= _LEAST_ENTROPY and not is_words(text)


def _items(text: str) -> list[str]:
    """Return the items of a list in YAML or JSON, without their quotes."""
    separator = r"\n[ \t]*-[ \t]+" if text.startswith("- ") else ","
    return [item.strip("[]-\"' \t\n") for item in re.split(separator, text)]
