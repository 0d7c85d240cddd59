"""Mask every secret in a text that is shown, character by character, or as a whole.

Two kinds of secrets need more than the text: those that only their path in a document identifies, in messages that
quote them, and the keys and tokens of this process, in what a server sends. The console masks the latter in all that it
prints: a server can repeat a token in any field of a response, in whatever form, not only in errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from smspec.diagnostics.secret_formats import written_secrets
from smspec.diagnostics.secret_spans import reported_spans, withheld_spans
from smspec.diagnostics.secrets import is_withheld, names_a_secret, option_name, secret_in
from smspec.source import Document, Node, Path, Scalar
from smspec.source.node import Mapping, Sequence

MASK = "*"

HIDDEN = "********"
"""The replacement for a secret where columns need not be kept. It does not show the secret's length."""

_SHORTEST = 4
"""Characters; a shorter secret is masked only where it is the whole quotation."""
_SHORTEST_CUT = 8
_LONGEST_CUT = 200
_MOST_SCALARS = 200

CREDENTIAL_MASK = "***"

OWN_CREDENTIALS: set[str] = set()
"""The keys and tokens of this process."""

_SHORTEST_CREDENTIAL = 16
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


def masked(text: str) -> str:
    """Return ``text`` with every character of a secret replaced; lines and columns stay where they are."""
    return _without_secrets(text, _blackened)


def without_tokens(text: str) -> str:
    """Return a name, or a message around one, with secrets of known formats masked: it contains no values."""
    return _without_spans(
        text, (found.span() for _, found in written_secrets(text, with_printed=True)), lambda _: HIDDEN
    )


@lru_cache(maxsize=1024)  # jobs share most of their tags and variables
def secret_of(name: str, value: str) -> str | None:
    """Return the kind of secret that a value is or contains, given its name; None for none."""
    return secret_in(name, value) or ("a secret" if any(reported_spans(value)) else None)


def secret_lines(text: str) -> list[int]:
    """Return the numbers of the lines that contain what looks like a secret, counted from 1."""
    lines = set[int]()
    for start, stop in reported_spans(text):
        first = text.count("\n", 0, start) + 1
        lines.update(range(first, first + text.count("\n", start, stop) + 1))
    return sorted(lines)


def hidden(text: str) -> str:
    """Return ``text`` with every secret replaced by `HIDDEN`, where no position refers to it."""
    return _without_secrets(text, lambda _: HIDDEN)


def _without_secrets(text: str, shown_as: Callable[[str], str]) -> str:
    return _without_spans(text, withheld_spans(text), shown_as)


def _without_spans(text: str, spans: Iterable[tuple[int, int]], shown_as: Callable[[str], str]) -> str:
    shown, end = [], 0
    for start, stop in _apart(spans):
        shown += [text[end:start], shown_as(text[start:stop])]
        end = stop
    return "".join([*shown, text[end:]]) if shown else text


def _apart(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the positions of secrets, in order, with overlapping ones merged: a secret may be detected in two ways."""
    start = stop = 0
    for begin, end in sorted(spans):
        if begin > stop:
            if stop > start:
                yield start, stop
            start = begin
        stop = max(stop, end)
    if stop > start:
        yield start, stop


def _blackened(text: str) -> str:
    return "".join(character if character in "\r\n" else MASK for character in text)


def secrets_at(document: Document, path: Path) -> list[str]:
    """Return the secret parts of the value at a path, and of what is below a secret name on the path."""
    name, top, node = "", None, None
    parent: Node | None = document.root
    for length, step in enumerate(path, 1):
        node = document.node(path[:length])
        if isinstance(step, str) and names_a_secret(step):
            name, top = step, node
        elif isinstance(parent, Sequence) and isinstance(step, int) and 0 < step < len(parent.items):
            before = parent.items[step - 1]
            option = option_name(before.text) if isinstance(before, Scalar) else ""
            name, top = (option, node) if names_a_secret(option) else (name, top)
        parent = node
    found = [scalar.text for scalar in _scalars(top) if is_withheld(name, scalar.text)]
    for scalar in _scalars(node):
        found += [scalar.text[start:stop] for start, stop in withheld_spans(scalar.text)]
    return sorted({secret for secret in found if secret.strip()}, key=len, reverse=True)


def without_quoted(words: str, secrets: list[str]) -> str:
    """Return a message with secrets, or their truncated parts, masked."""
    for secret in secrets:
        if len(secret) < _SHORTEST:
            words = words.replace(f"`{secret}`", f"`{MASK * len(secret)}`")
            continue
        for length in range(min(len(secret), _LONGEST_CUT), min(len(secret), _SHORTEST_CUT) - 1, -1):
            piece = secret if length == min(len(secret), _LONGEST_CUT) else secret[:length]
            if piece in words:
                words = words.replace(piece, MASK * len(piece))
                break
    return words


def _scalars(node: Node | None) -> Iterator[Scalar]:
    """Yield the first scalars of a value."""
    waiting = [node] if node is not None else []
    left = _MOST_SCALARS
    while waiting and left:
        left -= 1
        current = waiting.pop(0)
        if isinstance(current, Scalar):
            yield current
        elif isinstance(current, Mapping):
            waiting += [value for _, value in current.entries]
        else:
            waiting += current.items


def hide(secrets: Iterable[str | None]) -> None:
    """Mask these secrets from now on."""
    OWN_CREDENTIALS.update(each for each in secrets if each and len(each) >= _SHORTEST_CREDENTIAL)


def without_credentials(text: str) -> str:
    """Return a text without the secrets that are hidden."""
    return masked_credentials(text, OWN_CREDENTIALS) if OWN_CREDENTIALS else text


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
    return re.sub(r"\0+", CREDENTIAL_MASK, shown)


def _places(word: str, parts: dict[int, frozenset[str]]) -> Iterator[tuple[int, int]]:
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
def _parts(secrets: frozenset[str]) -> dict[int, frozenset[str]]:
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
