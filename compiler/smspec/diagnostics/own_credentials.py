"""Mask the keys and tokens of this process in what a server sends, in whatever form it repeats them."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache
from html import unescape
from urllib.parse import unquote

MASK = "***"

_PART = 12
"""The letters and digits of a secret that are masked as a part of it: fewer say nothing, and occur by chance."""

_LONGEST = 20_000
"""Characters of a message that are searched. Only the first few hundred are shown."""

_UNIT = re.compile(
    r"%(?:25)*(?P<percent>[0-9a-f]{2})|&(?:amp;)*(?P<entity>#?[0-9a-z]{1,8};)|\\+u(?P<unicode>[0-9a-f]{4})"
    r"|\\+x(?P<byte>[0-9a-f]{2})|[0-9a-z]",
    re.IGNORECASE,
)
"""A letter or a digit, or another character in an encoding that has some: of URLs, XML, JSON, or Python."""


def masked_credentials(text: str, secrets: Iterable[str]) -> str:
    """Return the beginning of a text without the secrets, and without parts of them.

    Letters and digits are compared, because encodings keep those and replace the others, each in its own way.
    """
    text = text[:_LONGEST]
    units = [*_units(text)]
    word = "".join(letter for letter, _, _ in units)
    hidden = bytearray(len(text))
    for secret in secrets:
        for parts, length in _forms(secret):
            for index in range(len(word) - length + 1):
                if word[index : index + length] in parts:
                    start, end = units[index][1], units[index + length - 1][2]
                    hidden[start:end] = b"\1" * (end - start)
    shown = "".join("\0" if is_hidden else each for each, is_hidden in zip(text, hidden, strict=True))
    return re.sub(r"\0+", MASK, shown)


def _units(text: str) -> Iterable[tuple[str, int, int]]:
    """Yield the letters and digits of a text in lower case, each with its start and end."""
    for match in _UNIT.finditer(text):
        letter = match[0]
        if match["percent"]:
            letter = unquote(f"%{match['percent']}")
        elif match["entity"]:
            letter = unescape(f"&{match['entity']}")
        elif match["unicode"] or match["byte"]:
            letter = chr(int(match["unicode"] or match["byte"], 16))
        if len(letter) == 1 and letter.isascii() and letter.isalnum():
            yield letter.lower(), match.start(), match.end()


@lru_cache(maxsize=16)
def _forms(secret: str) -> tuple[tuple[frozenset[str], int], ...]:
    """Return the parts of a secret that are masked, and their length, as it is, in Base64, and in hexadecimal."""
    raw = secret.encode()
    # Base64 depends on how many bytes precede the secret, such as those of a name.
    encoded = (b64encode(bytes(before) + raw).decode()[2 * before :] for before in range(3))
    forms = []
    for form in (secret, raw.hex(), *encoded):
        word = "".join(letter for letter, _, _ in _units(form))
        length = min(_PART, len(word))
        if length:
            forms.append((frozenset(word[at : at + length] for at in range(len(word) - length + 1)), length))
    return tuple(forms)
