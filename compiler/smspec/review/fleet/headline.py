"""The headline of a group of changes: who changes, and how, in a few words."""

from __future__ import annotations

from collections.abc import Callable

from smspec.diagnostics.visible import width
from smspec.review.comparing import verdict
from smspec.review.fleet.change_groups import ChangeGroup
from smspec.review.shown_values import has_values, shown_values
from smspec.source import dotted

LONGEST_VALUES = 60
"""Columns of an old and a new value together that a headline has room for."""


def headline(group: ChangeGroup, code: Callable[[str], str], marked: Callable[[str], str]) -> str:
    """Return what changes: path and values if it is one change of several jobs, else a summary; then the cost ceiling.

    ``code`` formats user text, ``marked`` a message with user text in backticks.
    """
    rise = "" if group.ceiling is None or not group.ceiling.rise else f", {group.ceiling.rise} cost ceiling"
    if has_values_in_headline(group):
        change = group.changes[0]
        old, new = shown_values(change, code)
        return f"{code(dotted(change.path))} {old} → {new}{rise}"
    return f"{marked(verdict(group.changes))}{rise}"


def has_values_in_headline(group: ChangeGroup) -> bool:
    """Return whether the headline has the values of the only change of a group."""
    if len(group.jobs) == 1 or len(group.reported) > 1:
        return False
    change = group.changes[0]
    return bool(change.path) and has_values(change) and sum(map(width, shown_values(change))) <= LONGEST_VALUES
