"""Old and new values as a line of text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from smspec.diagnostics.visible import visible
from smspec.review.change import Change
from smspec.review.job_review import ReportedChange

LONGEST = 70
"""Code points of a value that are shown; longer ones are truncated in the middle."""

MOST_OVERLAYS = 3

_NOTHING = "(none)"


def shown_values(change: Change, show: Callable[[str], str] = str) -> tuple[str, str]:
    """Return old and new, each in one line without control characters, and truncated where long or equal.

    ``show`` formats user text; the values contain no other text.
    """
    texts = [_text(value) for value in (change.old, change.new)]
    old, new = map(_ends, texts)
    if old == new:
        pairs = enumerate(zip(*texts, strict=False))
        differ = next((place for place, (was, will) in pairs if was != will), min(map(len, texts)))
        old, new = (_around(text, differ) for text in texts)
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


def _ends(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 25]}…{text[-24:]}"


def _around(text: str, place: int) -> str:
    """Return the beginning of a text, and the part around a place further back."""
    start = place - 12
    cut = f"{text[:20]}…{text[start:]}"
    return cut if len(cut) <= LONGEST else f"{cut[: LONGEST - 1]}…"


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
