"""What is a secret: a text in a known format, or a value under the name of a secret that looks like one.

A name alone is not enough to report a value: half of the names in machine learning contain `token` or `key`. To show
a value asks for more: under the name of a secret it is masked unless it clearly is none.
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
"""Bits for each character. A dozen characters made at random have more; `aaaa-1111-aaaa` has less."""
_NUMBER = r"[-+]?[0-9._,]+(?:[eE][-+]?[0-9]+)?[kKMGTB%]?"
_SHORT_NUMBER = r"-?[0-9.]{1,5}"
# What switches a service on or off where its key belongs.
_SETTING = r"(?i)disabled?|enabled?|default|auto|required|optional|offline|online|anonymous|dry-?run"
_OPTION = r"--[^=\s]+|-[A-Za-z][^=\s]{2,}"
# Behind any other word, such as `token`, a name may be that of something in a text.
_CREDENTIAL = r"(?i)(?:secret|key|pat|credentials?|creds?|bearer|jwt)[0-9]*"


def secret_in(name: str, value: str) -> str | None:
    """Return what kind of secret a value looks like, given the name it stands under; None for none."""
    for what, _ in written_secrets(value):
        return what
    return "a secret" if is_named_secret(name, value) else None


def option_name(word: str) -> str:
    """Return the name of the option that a word of a command is, if its value is the next word; else nothing."""
    return word.lstrip("-") if re.fullmatch(_OPTION, word) else ""


def names_a_secret(name: str) -> bool:
    """Return whether a name is one under which secrets stand."""
    return strength(name) > 0


def is_named_secret(name: str, value: str) -> bool:
    """Return whether a value under a name is a secret: no reference, no placeholder, and no harmless word."""
    return _is_any(_is_reported, strength(name), name, value)


def is_withheld(name: str, value: str) -> bool:
    """Return whether a value under a name is not to be shown: every one that is reported, and all that might be one."""
    return _is_any(_is_withheld, strength(name), name, value)


def _is_any(judge: Callable[[int, str, str], bool], sure: int, name: str, value: str) -> bool:
    """Return what ``judge`` says of a value, or of any item of a list."""
    text = value.strip()
    items = _items(text) if text.startswith(("[", "- ")) else [text]
    return sure > 0 and any(judge(sure, name, item) for item in items if item.strip("\\\"'") and not is_reference(item))


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
    """Return whether a name is that of a credential, and not of a token in a text, where both can be words."""
    last = re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))[-1]
    # Tokens of a text come in numbers; `HF_TOKENS` are credentials, `initializer_tokens` are not.
    plural = f"{name}{'S' if name[-1:].isupper() else 's'}"
    is_token = last.lower().endswith("token") and strength(plural) >= LIKELY
    return is_token or re.fullmatch(_CREDENTIAL, last) is not None


def _is_no_word(text: str) -> bool:
    if len(text) < _SHORTEST_LIKELY or text.isdigit():
        return False
    return entropy(text) >= _LEAST_ENTROPY and not is_words(text)


def _items(text: str) -> list[str]:
    """Return the items of a list as it is written in YAML or JSON, without their quotes."""
    separator = r"\n[ \t]*-[ \t]+" if text.startswith("- ") else ","
    return [item.strip("[]-\"' \t\n") for item in re.split(separator, text)]
