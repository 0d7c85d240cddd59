"""The names of jobs in one line, abbreviated if there are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from smspec.diagnostics.visible import visible, width

FEWEST_NAMED = 3


def named(names: Sequence[str], *, columns: int = 76, show: Callable[[str], str] = visible) -> str:
    """Return names separated by commas: as many as fit in some columns, at least three, and how many more there are.

    ``show`` formats the name that a user chose.
    """
    taken = 0
    used = 0
    for name in names:
        used += width(visible(name)) + 2
        if taken >= FEWEST_NAMED and used > columns - len(f"and {len(names):,} more"):
            break
        taken += 1
    more = len(names) - taken
    listed = ", ".join(map(show, names[:taken]))
    return f"{listed}, and {more:,} more" if more else listed
