"""Whether a text was made at random, or consists of words that name something."""

from __future__ import annotations

import math
import re

# `prod`, `v2`, `8bit`, `2024`, `DefaultChain`: what is made at random mixes letters and digits more.
_WORD = (
    r"(?:[a-z]{1,14}[0-9]{0,2}|[A-Z]{1,14}[0-9]{0,2}|[0-9]{1,4}[a-z]{0,4}|[0-9]+"
    r"|[a-z]{0,12}(?:[A-Z][a-z]{1,11}[0-9]?|[A-Z]{2,4}(?=[A-Z][a-z]))+[0-9]?)?"
)
_BETWEEN_WORDS = r"[\s_./,:;+#-]+"
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_MIXED = r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+/=_.~-]{20,}"
_LEAST_ENTROPY = 3.8
"""Bits for each character of a text that counts as random by itself."""


def is_random(text: str) -> bool:
    """Return whether a text was certainly made at random; digests and UUIDs, which name things, do not count."""
    if not re.fullmatch(_MIXED, text) or re.fullmatch(_UUID, text):
        return False
    return entropy(text) >= _LEAST_ENTROPY and not is_words(text)


def is_words(text: str) -> bool:
    """Return whether a text is words, such as the name of a scheme or a model, rather than something made by chance."""
    return all(re.fullmatch(_WORD, piece) for piece in re.split(_BETWEEN_WORDS, text))


def entropy(text: str) -> float:
    """Return Shannon's entropy of the characters, in bits for each."""
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
