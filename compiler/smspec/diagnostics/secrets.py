"""What is a secret: a text in a known format, or a value under the name of a secret that looks like one.

A name alone is not enough: half of the names in machine learning contain `token` or `key`.
"""

from __future__ import annotations

import math
import re

from smspec.diagnostics.secret_formats import written_secrets
from smspec_runtime.secret_names import LIKELY, SURE, strength

# What stands for a secret that is kept elsewhere, or for none at all.
_REFERENCE = (
    r"(?is)"
    r"\$\{.*|\$\w+|\$\(.*\)|\{\{.*|%\w+%|<.*>|\[.*\]|\(.*\)|ENC\[.*|@microsoft\.keyvault\(.*|arn:.*|alias/.*"
    r"|(?:s3|https?|file|ssm|secretsmanager|vault|op|env|ref\+\w+|doppler|awssm|gcpsm|akv|keyring|secret)://?.*"
    r"|(?:env|file|vault|ssm|secretsmanager|aws|op|secret|keyring):[\w/.#-]+|projects/.*/secrets/.*"
    r"|[./~][\w./-]*/.*|[\w.-]+/[\w./-]*\.(?:txt|json|ya?ml|pem|key|env|cfg|ini|toml)|\*+|x{3,}"
    r"|true|false|null|none|yes|no|on|off|-?[0-9.]{1,5}"
)
# What documentation and templates write where a secret belongs.
_PLACEHOLDER = (
    r"(?i)change[-_ ]?(?:me|this)|replace[-_ ]?(?:me|with|this)|\b_?(?:your|insert|enter|put|paste)[-_ ]|[-_ ]here\b"
    r"|place-?_?holder|redact|example|dummy|to-?do\b|fix-?me|x{4,}|\.{3}|…|_goes_|\bsample[-_]|\bfake[-_]|not[-_]?(?:set|used|a[-_]secret)"
)
# `prod`, `v2`, `8bit`, `2024`, `DefaultChain`: what is made at random mixes letters and digits more.
_WORD = (
    r"(?:[a-z]{1,14}[0-9]{0,2}|[A-Z]{1,14}[0-9]{0,2}|[0-9]{1,4}[a-z]{0,4}|[0-9]+"
    r"|[a-z]{0,12}(?:[A-Z][a-z]{1,11}[0-9]?|[A-Z]{2,4}(?=[A-Z][a-z]))+[0-9]?)?"
)
_BETWEEN_WORDS = r"[\s_./,:;+#-]+"
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SHORTEST_SURE = 3
_SHORTEST_LIKELY = 8
_LEAST_ENTROPY = 3.0
"""Bits for each character; words of a language that name something rarely have more in so few characters."""
_RANDOM = r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+/=_.~-]{20,}"
_LEAST_ENTROPY_OF_RANDOM = 3.8


def secret_in(name: str, value: str) -> str | None:
    """Return what kind of secret a value looks like, given the name it stands under; None for none."""
    for what, _ in written_secrets(value):
        return what
    return "a secret" if is_named_secret(name, value) else None


def names_a_secret(name: str) -> bool:
    """Tell whether a name is one under which secrets stand."""
    return strength(name) > 0


def is_named_secret(name: str, value: str) -> bool:
    """Tell whether a value under a name is a secret, and not a reference to one or a harmless word."""
    sure = strength(name)
    text = value.strip()
    if sure and text.startswith(("[", "- ")):
        return any(is_named_secret(name, item) for item in _items(text))
    if not sure or not text.strip("\\\"'") or re.fullmatch(_REFERENCE, text) or re.search(_PLACEHOLDER, text):
        return False
    if sure == SURE:
        return len(text) >= _SHORTEST_SURE
    if sure == LIKELY:
        return _is_no_word(text)
    return _is_random(text)


def _is_no_word(text: str) -> bool:
    if len(text) < _SHORTEST_LIKELY or text.isdigit():
        return False
    return _entropy(text) >= _LEAST_ENTROPY and not _is_words(text)


def _is_random(text: str) -> bool:
    """Tell whether a text was certainly made at random; digests and UUIDs, which name things, are not meant."""
    if not re.fullmatch(_RANDOM, text) or re.fullmatch(_UUID, text):
        return False
    return _entropy(text) >= _LEAST_ENTROPY_OF_RANDOM and not _is_words(text)


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
