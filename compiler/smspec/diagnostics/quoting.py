"""How messages write what smspec did not: quoted, without secrets, and without what a terminal would interpret.

"Others" are an operating system, a library, or a server: their messages end a sentence of smspec.

Two kinds of secrets need more than the text: those that only their path in a document identifies, in messages that
quote them, and the keys and tokens of this process, in what a server sends. The console masks the latter in all that it
prints: a server can repeat a token in any field of a response, in whatever form, not only in errors.

Everything that shows a value calls `visible`; what is meant for programs, such as JSON, contains the value itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from smspec.diagnostics.secret_formats import written_secrets
from smspec.diagnostics.secret_spans import reported_spans, withheld_spans
from smspec.diagnostics.secrets import is_withheld, names_a_secret, option_name, secret_in
from smspec.source import Document, Mapping, Node, Path, Scalar, Sequence, dotted

_LONGEST_QUOTED = 60
"""Code points of the author's text; the rest is an ellipsis."""

SECONDS_OF_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
"""The seconds of each unit, the largest first."""


def quoted(text: str) -> str:
    """Return text of the author without secrets, truncated if very long."""
    text = masked(text)  # before it is truncated: half a secret may not be recognized
    return f"`{text}`" if len(text) <= _LONGEST_QUOTED else f"`{text[: _LONGEST_QUOTED - 1]}…`"


def one_of(names: Iterable[str]) -> str:
    """Return "`a`, `b`, or `c`"."""
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} or {last}" if most else last


def path_name(path: Path) -> str:
    """Return the path of a value for a message, in backticks; of a long one the end, which distinguishes it."""
    text = masked(dotted(path))  # before it is truncated, as above
    return f"`{text}`" if len(text) <= _LONGEST_QUOTED else f"`…{text[1 - _LONGEST_QUOTED :]}`"


def duration(seconds: int) -> str:
    """Return ``1d`` for 86,400 seconds and ``70s`` for 70: the largest unit without a fraction."""
    return next(
        (f"{seconds // size}{unit}" for unit, size in SECONDS_OF_UNITS.items() if seconds and seconds % size == 0), "0s"
    )


def continued(text: str) -> str:
    """Return a message in one line, without a full stop and, if it begins with a word, in lower case."""
    words = " ".join(text.split()).rstrip(".")
    # `SSL: …` and `S3 …` are names.
    return words if words[1:2].isupper() or words[1:2].isdigit() else words[:1].lower() + words[1:]


def system_reason(fault: OSError) -> str:
    """Return the message of the system."""
    return continued(fault.strerror or str(fault))


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


TAB = "    "
"""The display of a tab: its real width depends on its position and on the terminal."""

_SPACES = "[\t\n\r\xa0\xad\u1680\u2000-\u200a\u202f\u205f]"
_SPACES_OF_NUMBERS = "\xa0\u2007\u2009\u202f"
_OF_NUMBERS = str.maketrans(dict.fromkeys(_SPACES_OF_NUMBERS, " "))

_HARMLESS = bytes((*range(7, 0xE), 0x1B, *range(0x20, 0x7F)))

_COLORS = r"\x1b\[[0-9;:]*[mK]"
"""Also what erases the rest of a line, which progress bars print."""

_BETWEEN_CONTROLS = "[^\\x00-\\x1f]+"

_ESCAPES = r"\x1b(?!\[(?:[0-9;:]*[A-HJKfm]|\?25[hl]))"
_ORDERS = rf"{_ESCAPES}|[\x00-\x06\x0e-\x1a\x1c-\x1f]"
"""Escapes of a terminal that are neither colors nor moves of the cursor, and control characters without a use."""

_WORD = r"[^\W\d_]+"

_COMMANDS = r"(?m)##(?=[A-Za-z]*\[)|^[^\S\n]*:(?=:)"
"""What CI systems obey in a log: `##vso[…]` and `##[…]` anywhere in a line, `::` at its start or behind blanks."""


def visible(text: str) -> str:
    """Return ``text`` with everything that could hide, move the cursor, or reorder the line as an escape.

    So is a letter of another script in a Latin word: ``\\u0430dmin``.
    """
    if text.isascii():
        return text if text.isprintable() else "".join(map(_shown, text))
    # Imported late: most texts are ASCII.
    from smspec.diagnostics.unseen import mixed_letter, unseen_parts

    parts, end = [], 0
    for start, stop in unseen_parts(text):
        parts += [text[end:start], *map(_escaped, text[start:stop])]
        end = stop
    shown = re.sub(_SPACES, lambda match: _shown(match[0]), "".join((*parts, text[end:])))
    return re.sub(_WORD, lambda match: _distinguished(match[0]) if mixed_letter(match[0]) else match[0], shown)


def seen(text: str) -> str:
    """Return text that may have colors and move the cursor, with everything else that cannot be seen as an escape.

    A terminal does more for a program: it copies to the clipboard, changes its title, or types an answer.
    """
    if text.isascii() and not text.encode().translate(None, _HARMLESS) and not re.search(_ESCAPES, text):
        return text  # most is, and a search for each order takes fifty times as long
    text = re.sub(_ORDERS, lambda match: _escaped(match[0]), text)
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_BETWEEN_CONTROLS, lambda match: visible(match[0]), text)


def without_commands(text: str) -> str:
    """Return lines that a log may show with nothing that a CI system would take for a command. JSON stays the same."""
    if "##" not in text and "::" not in text:
        return text
    return re.sub(_COMMANDS, lambda match: f"{match[0][:-1]}\\u{ord(match[0][-1]):04x}", text)


def last_state(line: str) -> str:
    """Return what a terminal shows of a line at its end: of a progress bar, the part after the last carriage return."""
    return line.rstrip("\r").rpartition("\r")[2]


def plain_spaces(text: str) -> str:
    """Return text that a program printed, with the spaces of numbers, as in French, as spaces."""
    # Searched for first: a translation takes a hundred times as long.
    return text.translate(_OF_NUMBERS) if any(space in text for space in _SPACES_OF_NUMBERS) else text


def printed(text: str) -> str:
    """Return what a program printed, visible: without colors, of each line its last state."""
    lines = (last_state(re.sub(_COLORS, "", line)) for line in text.split("\n"))
    return visible(plain_spaces("\n".join(lines)))


def multiline_visible(text: str) -> str:
    """Return a text of several lines, each visible."""
    return "\n".join(map(visible, text.split("\n")))


def _distinguished(word: str) -> str:
    """Return a word with the letters that are not Latin as escapes."""
    from unicodedata import name

    return "".join(each if name(each, "").startswith("LATIN ") else _escaped(each) for each in word)


def _shown(character: str) -> str:
    if character == "\t":
        return TAB
    return character if character.isascii() and character.isprintable() else _escaped(character)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
