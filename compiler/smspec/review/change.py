"""One difference between two states of a job, with the kind of its consequence, and its values as reports show them.

User text in messages is always in backticks, so output formats can distinguish it from the message. Values are JSON
without secrets, then a line of text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from fractions import Fraction
from itertools import accumulate
from typing import Union

from smspec.diagnostics.quoting import HIDDEN, hidden, visible, without_tokens
from smspec.diagnostics.secrets import is_withheld, option_name, secret_in
from smspec.source import Path
from smspec.source.frozen import dataclass, replace

Rise = Union[Fraction, None]
"""The rise in percent; None if there is nothing to compare it with, or no way to."""

QUOTE = "'"
"""The replacement for a backtick inside of backticks."""

LONGEST = 70
"""Code points of a value that is shown whole; of longer ones, what differs and a little around it."""

MOST_DIFFERING = 240
"""Code points of what differs. The rest is counted: padding could hide a part that matters."""

MOST_IN_TEXT = 16 << 20
"""The same for text in a terminal, which has no limit: a spec is smaller."""

_BEGINNING, _BEFORE, _AFTER = 20, 12, 24
_MOST_STEPS = 250_000
_PART = re.compile(r"\w+|\W")

_LEAST = 12
"""What a part that differs costs at least: there may be many of one letter."""

_Spans = list[tuple[int, int]]
MOST_OVERLAYS = 3
_NOTHING = "(none)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The old and the new value. ``kind`` is the name of one of `KINDS`.

    ``path`` is that of the spec, or of the API if no key of the spec sets it. ``old`` and ``new`` are JSON values
    without secrets; None if not set. ``what`` describes the consequence; ``brief`` names the subject in the summary.
    ``file`` and ``line`` are where it is written now, or was, if it is removed. ``hides``: a mask hides a part of a
    value, and that may be more than a secret.
    """

    kind: str
    path: Path
    old: object = None
    new: object = None
    what: str
    brief: str = ""
    file: str | None = None
    line: int | None = None
    rise: Rise = None
    hides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedChange:
    """A change and where it applies: to the spec on its own, and to these overlays.

    ``is_everywhere``: to all variants.
    """

    change: Change
    as_is: bool
    overlays: tuple[str, ...]
    is_everywhere: bool


def quoted(text: str) -> str:
    """Return user text for a sentence of smspec."""
    return f"`{visible(text).replace('`', QUOTE)}`"


def safe(name: str, value: object) -> object:
    """Return a JSON value with every secret in it masked; ``name`` is the name of the value."""
    if isinstance(value, str):
        return HIDDEN if is_secret(name, value) else hidden(value)
    if isinstance(value, dict):
        if value.keys() == {"Key", "Value"}:  # a tag is also a name and a value
            return {"Key": value["Key"], "Value": safe(str(value["Key"]), value["Value"])}
        return {without_tokens(str(key)): safe(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return _safe_words(name, value)
    return value


def hides(value: object, shown: object) -> bool:
    """Return whether a mask hides a part of a JSON value that is ``shown``; a tuple is shown as a list."""
    return shown is not value and json.dumps(value, default=str) != json.dumps(shown, default=str)


def safe_change(change: Change) -> Change:
    """Return a change with every secret in its names masked; its values are already without."""
    return replace(
        change,
        path=tuple(without_tokens(step) if isinstance(step, str) else step for step in change.path),
        what=without_tokens(change.what),
        brief=without_tokens(change.brief),
    )


def _safe_words(name: str, words: Sequence[object]) -> list[object]:
    """Return the items of a list; in a command line each word is named after the option before it."""
    shown, called = list[object](), name
    for word in words:
        shown.append(safe(called, word))
        called = (option_name(word) if isinstance(word, str) else "") or name
    return shown


def is_secret(name: str, value: object) -> bool:
    """Return whether all of a value is a secret."""
    return isinstance(value, str) and is_withheld(name, value) and hidden(value) == value


def holds_secret(name: str, value: object) -> bool:
    """Return whether a value contains a secret."""
    return isinstance(value, str) and secret_in(name, value) is not None


def shown_values(change: Change, show: Callable[[str], str] = str, most: int = MOST_DIFFERING) -> tuple[str, str]:
    """Return old and new, each in one line without control characters; of long ones, each part that differs.

    ``show`` formats user text; the values contain no other text, but the number of characters that are not shown:
    beyond ``most`` of those that differ.
    """
    was, will = (_text(value) for value in (change.old, change.new))
    start = same = 0
    if change.old is not None and change.new is not None:
        if was == will and change.old != change.new:  # a number and its text, a character and its escape
            was, will = json.dumps(change.old), json.dumps(change.new)
        was, will = _distinct(was, will)
        start, same = _ends(was, will)
    spans = _differing(was[start : len(was) - same], will[start : len(will) - same])
    old, new = (
        _cut(text, [(start + a, start + b) for a, b in of_it], most)
        for text, of_it in zip((was, will), spans, strict=True)
    )
    return _NOTHING if change.old is None else show(old), _NOTHING if change.new is None else show(new)


def _ends(old: str, new: str) -> tuple[int, int]:
    """Return how many characters are the same at the beginnings of two texts, and then at their ends."""
    shortest = min(len(old), len(new))
    start = next((place for place in range(shortest) if old[place] != new[place]), shortest)
    ends = range(1, shortest - start + 1)
    return start, next((place - 1 for place in ends if old[-place] != new[-place]), len(ends))


def _distinct(old: str, new: str) -> tuple[str, str]:
    """Return two texts; if they look the same, with the code points of what differs."""
    if old.isascii() and new.isascii():
        return old, new
    from smspec.diagnostics.unseen import look  # imported late: most texts are ASCII

    if look(old) != look(new):
        return old, new
    start, same = _ends(old, new)
    ends = len(old) - same, len(new) - same
    return (
        f"{old[:start]}{_escaped(old[start : ends[0]])}{old[ends[0] :]}",
        f"{new[:start]}{_escaped(new[start : ends[1]])}{new[ends[1] :]}",
    )


def _escaped(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _differing(old: str, new: str) -> tuple[_Spans, _Spans]:
    """Return the parts of two texts, different at both ends, that differ; those close to each other are one part."""
    whole: tuple[_Spans, _Spans] = [(0, len(old))], [(0, len(new))]
    if max(len(old), len(new)) <= LONGEST:
        return whole
    words = _PART.findall(old), _PART.findall(new)
    if not all(words) or len(words[0]) * len(words[1]) > _MOST_STEPS:
        return whole
    places = [[0, *accumulate(map(len, side))] for side in words]
    spans: tuple[_Spans, _Spans] = [], []
    for how, *ends in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        at = [places[side][end] for side, end in zip((0, 0, 1, 1), ends, strict=True)]
        if how == "equal":
            continue
        if spans[0] and at[0] - spans[0][-1][1] <= _BEFORE + _AFTER:
            at[0], at[2] = spans[0].pop()[0], spans[1].pop()[0]
        spans[0].append((at[0], at[1]))
        spans[1].append((at[2], at[3]))
    return spans


def _text(value: object) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    if len(text) > LONGEST and isinstance(value, dict | list):
        # The content is more specific than the names of its members, which every such structure has.
        text = ", ".join(_leaves(value))
    return visible(text)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


def _cut(text: str, spans: _Spans, most: int) -> str:
    """Return a text, of a long one its beginning, and what is around the parts that differ."""
    if len(text) <= LONGEST:
        return text
    start = spans[0][0]
    first = start - _BEFORE if start - _BEFORE > _BEGINNING else 0
    shown = f"{text[:_BEGINNING]}…" if first else ""
    for number, (start, end) in enumerate(spans):
        first = max(start - _BEFORE, 0) if number else first
        if end - start > most:
            hidden = end - start - most + sum(b - a for a, b in spans[number + 1 :])
            return f"{shown}{text[first : start + most]}… (+{hidden:,} characters)"
        most -= max(end - start, _LEAST) if len(spans) > 1 else 0
        last = max(end + _AFTER, first + LONGEST - len(shown) - 1)
        shown += f"{text[first:last]}{'…' if last < len(text) else ''}"
    return shown


def has_values(change: Change) -> bool:
    """Return whether old and new add to the description: a ceiling is already in it, a mask hides the difference."""
    is_ceiling = isinstance(change.new, dict) and "instance_hours" in change.new
    return change.old != change.new and not is_ceiling


_FIRST = ("security", "code", "image", "hosts", "cost", "data", "output")
"""The kinds of which one change more matters more than of others."""


def foremost(reported: Sequence[ReportedChange], most: int) -> tuple[Sequence[ReportedChange], str]:
    """Return at most ``most`` changes, in their order, and in words how many others there are.

    They are of as many keys as possible: many harmless changes of one must not push out that of another.
    """
    if len(reported) <= most:
        return reported, ""
    numbers = Counter[tuple[object, ...]]()
    ranks: list[tuple[int, int, int]] = []
    for place, each in enumerate(reported):
        change = each.change
        # The keys of an image, and the members of a request, are as different from each other as those of a spec.
        key = (change.kind, *change.path[: 2 if change.path[:1] in (("image",), ("api",)) else 1])
        importance = _FIRST.index(change.kind) if change.kind in _FIRST else len(_FIRST)
        ranks.append((numbers[key], importance, place))
        numbers[key] += 1
    kept = sorted(place for _, _, place in sorted(ranks)[:most])
    rest = Counter(each.change.kind for each in reported)
    rest.subtract(reported[place].change.kind for place in kept)
    counts = ", ".join(f"{number:,} {kind}" for kind, number in rest.items() if number)
    return [reported[place] for place in kept], f"{len(reported) - most:,} more: {counts}"


def under(reported: ReportedChange, name: Callable[[str], str]) -> str:
    """Return the overlays of a change, if that is not obvious; ``name`` formats the name of one."""
    if reported.is_everywhere:
        return ""
    if not reported.overlays:
        return "only without an overlay"
    more = f" and {len(reported.overlays) - MOST_OVERLAYS} more" if len(reported.overlays) > MOST_OVERLAYS else ""
    names = ", ".join(map(name, reported.overlays[:MOST_OVERLAYS]))
    word = "overlay" if len(reported.overlays) == 1 else "overlays"
    return f"{'and' if reported.as_is else 'only'} with the {word} {names}{more}"
