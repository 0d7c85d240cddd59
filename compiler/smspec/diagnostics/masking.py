"""Mask every secret in a text that is shown, character by character, or as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from smspec.diagnostics.secret_formats import written_secrets
from smspec.diagnostics.secret_spans import reported_spans, withheld_spans
from smspec.diagnostics.secrets import secret_in

MASK = "*"

HIDDEN = "********"
"""The replacement for a secret where columns need not be kept. It does not show the secret's length."""


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
