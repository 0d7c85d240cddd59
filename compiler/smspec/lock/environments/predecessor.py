"""The environment that a new one continues: its versions are kept where they still fit."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from smspec.plan.plan import ImagePlan
from smspec.spec.lock import LockedEnvironment


def predecessor(
    known: Mapping[str, LockedEnvironment], image: ImagePlan, python: str, names: set[str], needed: Container[str]
) -> LockedEnvironment | None:
    """Return the locked environment that is most like the one to resolve; None if no other has one of its packages.

    ``names``: the packages that it requires. An environment that no job needs any more, outside of ``needed``, was
    probably its own before the change.
    """
    base = image.base.partition("@")[0]
    candidates = []
    for key in known:
        one = known[key]
        shared = len(names & set(one.packages))
        if shared and (one.platform, one.python) == (image.platform, python):
            is_same_base = one.base.partition("@")[0] == base
            candidates.append((key in needed, -shared, not is_same_base, len(one.packages), key))
    return known[min(candidates)[-1]] if candidates else None


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield the packages whose versions differ."""
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"{name} {old.get(name, '(none)')} → {new.get(name, '(none)')}"
