"""Whether a string is random, or consists of words."""

from __future__ import annotations

import math
import re

# `prod`, `v2`, `8bit`, `2024`, `DefaultChain`: random strings mix letters and digits more.
_WORD = (
    r"(?:[a-z]{1,14}[0-9]{0,2}|[A-Z]{1,14}[0-9]{0,2}|[0-9]{1,4}[a-z]{0,4}|[0-9]+"
    r"|[a-z]{0,12}(?:[A-Z][a-z]{1,11}[0-9]?|[A-Z]{2,4}(?=[A-Z][a-z]))+[0-9]?)?"
)
_BETWEEN_WORDS = r"[\s_./,:;+#-]+"
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_MIXED = r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+/=_.~-]{20,}"
_LEAST_ENTROPY = 3.8
"""Bits per character of a string that counts as random."""


def is_random(text: str) -> bool:
    """Return whether a string is certainly random; digests and UUIDs, which identify things, do not count."""
    if not re.fullmatch(_MIXED, text) or re.fullmatch(_UUID, text):
        return False
    return entropy(text) >= _LEAST_ENTROPY and not is_words(text)


def is_words(text: str) -> bool:
    """Return whether a string consists of words, such as the name of a scheme or a model, rather than being random."""
    return all(re.fullmatch(_WORD, piece) for piece in re.split(_BETWEEN_WORDS, text))


def entropy(text: str) -> float:
    """Return Shannon's entropy of the characters, in bits per character."""
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
