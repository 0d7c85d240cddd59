"""Mask the keys and tokens of this process in what a server sends, in whatever form it repeats them.

The console masks all that it prints: a server can repeat a token in any field of a response, not only in errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

MASK = "***"

HIDDEN: set[str] = set()
"""The keys and tokens of this process."""

_SHORTEST = 16
"""Characters of a secret. Those of AWS have 40 and more; the keys of emulators are words, such as `minioadmin`."""

_PART = 12
"""The letters and digits of a secret that are masked as a part of it: fewer say nothing, and occur by chance."""

_UNIT = (
    r"(?i)%(?:25)*(?P<percent>[0-9a-f]{2})|&(?:amp;)*(?P<entity>#?[0-9a-z]{1,8};)|\\+u(?P<unicode>[0-9a-f]{4})"
    r"|\\+x(?P<byte>[0-9a-f]{2})|[0-9a-z\"]"
)
"""A letter or a digit, or another character in an encoding that has some: of URLs, XML, JSON, or Python.

A quotation mark ends a secret: JSON has to stay JSON if a server divides one among several strings.
"""


def hide(secrets: Iterable[str | None]) -> None:
    """Mask these secrets from now on."""
    HIDDEN.update(each for each in secrets if each and len(each) >= _SHORTEST)


def without_credentials(text: str) -> str:
    """Return a text without the secrets that are hidden."""
    return masked_credentials(text, HIDDEN) if HIDDEN else text


def masked_credentials(text: str, secrets: Iterable[str]) -> str:
    """Return a text without the secrets, and without parts of them.

    Letters and digits are compared, because encodings keep those and replace the others, each in its own way.
    """
    parts = _parts(frozenset(secrets))
    if not re.search(r"[%&\\]", text):  # most texts have no encodings, and no secrets
        word = re.sub('[^0-9A-Za-z"]+', "", text).lower()
        if not any(_places(word, parts)):
            return text
    units = [*_units(text)]
    hidden = bytearray(len(text))
    for index, length in _places("".join(letter for letter, _, _ in units), parts):
        start, end = units[index][1], units[index + length - 1][2]
        hidden[start:end] = b"\1" * (end - start)
    if not any(hidden):
        return text
    shown = "".join("\0" if is_hidden else each for each, is_hidden in zip(text, hidden, strict=True))
    return re.sub(r"\0+", MASK, shown)


def _places(word: str, parts: Mapping[int, frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Yield where parts of secrets begin in letters and digits, and their lengths."""
    for length, each in parts.items():
        yield from ((at, length) for at in range(len(word) - length + 1) if word[at : at + length] in each)


def _units(text: str) -> Iterable[tuple[str, int, int]]:
    """Yield the letters and digits of a text in lower case, each with its start and end."""
    # Imported late: most commands have no credentials.
    from html import unescape
    from urllib.parse import unquote

    for match in re.finditer(_UNIT, text):
        letter = match[0]
        if match["percent"]:
            letter = unquote(f"%{match['percent']}")
        elif match["entity"]:
            letter = unescape(f"&{match['entity']}")
        elif match["unicode"] or match["byte"]:
            letter = chr(int(match["unicode"] or match["byte"], 16))
        if match[0] == '"' or (len(letter) == 1 and letter.isascii() and letter.isalnum()):
            yield letter.lower(), match.start(), match.end()


@lru_cache(maxsize=16)
def _parts(secrets: frozenset[str]) -> Mapping[int, frozenset[str]]:
    """Return the parts of secrets that are masked, by length: as they are, in Base64, and in hexadecimal."""
    # Imported late: most commands have no credentials.
    from base64 import b64encode

    found: dict[int, frozenset[str]] = {}
    for secret in secrets:
        raw = secret.encode()
        # Base64 depends on how many bytes precede the secret, such as those of a name.
        encoded = (b64encode(bytes(before) + raw).decode()[2 * before :] for before in range(3))
        for form in (secret, raw.hex(), *encoded):
            word = "".join(letter for letter, _, _ in _units(form))
            length = min(_PART, len(word))
            if length:
                each = {word[at : at + length] for at in range(len(word) - length + 1)}
                found[length] = found.get(length, frozenset()) | each
    return found
