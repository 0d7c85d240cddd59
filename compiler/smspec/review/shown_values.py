"""Old and new values as a line of text."""

from __future__ import annotations

import json
from collections.abc import Callable

from smspec.diagnostics.visible import visible
from smspec.review.change import Change
from smspec.review.job_review import Told

LONGEST = 70
"""Code points of a value that are shown; of longer ones the ends."""

MOST_OVERLAYS = 3

NOTHING = "(none)"


def shown_value(value: object) -> str:
    """Return a value in one line that moves no cursor, not too long."""
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    text = visible(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 25]}…{text[-24:]}"


def has_values(change: Change) -> bool:
    """Tell whether old and new say more than the words do: a ceiling is told in words, a mask hides what differs."""
    is_ceiling = isinstance(change.new, dict) and "instance_hours" in change.new
    return change.old != change.new and not is_ceiling


def under(told: Told, name: Callable[[str], str]) -> str:
    """Return which overlays a change holds for, where that has to be said; ``name`` writes the name of one."""
    if told.is_everywhere:
        return ""
    if not told.overlays:
        return "only without an overlay"
    more = f" and {len(told.overlays) - MOST_OVERLAYS} more" if len(told.overlays) > MOST_OVERLAYS else ""
    names = ", ".join(map(name, told.overlays[:MOST_OVERLAYS]))
    word = "overlay" if len(told.overlays) == 1 else "overlays"
    return f"{'and' if told.as_is else 'only'} with the {word} {names}{more}"
