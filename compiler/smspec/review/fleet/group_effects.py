"""The effects of a group of changes in words."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.review.fleet.change_groups import ChangeGroup
from smspec.review.kinds import cost


def effect_rows(group: ChangeGroup) -> Iterator[tuple[str, str]]:
    """Yield (kind, effect), the cost ceiling first, and how many of the jobs it concerns."""
    total = len(group.jobs)
    if group.ceiling is not None:
        several = f" in {_of(group.ceiling.changed, total)}" if total > 1 else ""
        yield cost.KIND.name, f"cost ceiling: {group.ceiling.words}{several}"
    for effect in group.effects:
        some = f" ({_of(effect.jobs, total)})" if effect.jobs < total else ""
        yield effect.kind, f"{effect.what}{some}"


def _of(number: int, total: int) -> str:
    return f"{total:,} jobs" if number == total else f"{number:,} of {total:,} jobs"
