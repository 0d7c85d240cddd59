"""Old and new values as a line of text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from smspec.diagnostics.visible import visible
from smspec.review.change import Change
from smspec.review.job_review import ReportedChange

LONGEST = 70
"""Code points of a value that is shown whole; of longer ones, what differs and a little around it."""

MOST_DIFFERING = 240
"""Code points of what differs. The rest is counted: padding could hide a part that matters."""

_BEGINNING, _BEFORE, _AFTER = 20, 12, 24

MOST_OVERLAYS = 3

_NOTHING = "(none)"


def shown_values(change: Change, show: Callable[[str], str] = str) -> tuple[str, str]:
    """Return old and new, each in one line without control characters; of long ones, the part that differs.

    ``show`` formats user text; the values contain no other text, but the number of characters that are not shown.
    """
    was, will = (_text(value) for value in (change.old, change.new))
    shortest = 0 if change.old is None or change.new is None else min(len(was), len(will))
    start = next((place for place in range(shortest) if was[place] != will[place]), shortest)
    ends = range(1, shortest - start + 1)
    same = next((place - 1 for place in ends if was[-place] != will[-place]), len(ends))
    old, new = (_cut(text, start, len(text) - same) for text in (was, will))
    return _NOTHING if change.old is None else show(old), _NOTHING if change.new is None else show(new)


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


def _cut(text: str, start: int, end: int) -> str:
    """Return a text, of a long one its beginning, and what is around the part that differs."""
    if len(text) <= LONGEST:
        return text
    first = start - _BEFORE if start - _BEFORE > _BEGINNING else 0
    beginning = f"{text[:_BEGINNING]}…" if first else ""
    last = max(end + _AFTER, first + LONGEST - len(beginning) - 1)
    if end - start <= MOST_DIFFERING:
        return f"{beginning}{text[first:last]}{'…' if last < len(text) else ''}"
    return f"{beginning}{text[first : start + MOST_DIFFERING]}… (+{end - start - MOST_DIFFERING:,} characters)"


def has_values(change: Change) -> bool:
    """Return whether old and new add to the description: a ceiling is already in it, a mask hides the difference."""
    is_ceiling = isinstance(change.new, dict) and "instance_hours" in change.new
    return change.old != change.new and not is_ceiling


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
