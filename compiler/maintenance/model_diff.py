"""Compare the shapes of a different botocore with the pinned ones: what it allows newly, and no longer."""

from __future__ import annotations

from smspec.service.shapes import Model, Shape
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """``widened``: the pinned shapes reject or lack it, the other model allows it. ``narrowed``: the reverse.

    A widened model keeps the results for existing jobs correct; a narrowed one makes some of them wrong.
    """

    widened: tuple[str, ...]
    narrowed: tuple[str, ...]


def drift(pinned: Model, other: Model) -> Drift:
    """Compare two models, member by member."""
    widened: list[str] = []
    narrowed: list[str] = []
    before = {_dotted(path): shape for path, shape in pinned.walk()} | {"": pinned.root}
    after = {_dotted(path): shape for path, shape in other.walk()} | {"": other.root}
    for place in sorted(before.keys() | after.keys()):
        if place not in after:
            narrowed.append(f"{place} is gone")
        elif place not in before:
            widened.append(f"{place} is new")
        else:
            _compare(place or "the request", before[place], after[place], widened, narrowed)
    return Drift(widened=tuple(widened), narrowed=tuple(narrowed))


def _compare(place: str, before: Shape, after: Shape, widened: list[str], narrowed: list[str]) -> None:
    if before.kind != after.kind:
        narrowed.append(f"{place} was a {before.kind} and is a {after.kind}")
    if before.pattern != after.pattern:
        # It is unknown which of two patterns matches more.
        (widened if after.pattern is None else narrowed).append(f"{place} has another pattern")
    _compare_names(f"{place} requires", before.required, after.required, more=narrowed, fewer=widened)
    if before.enum or after.enum:
        if not after.enum:
            widened.append(f"{place} takes any value")
        elif not before.enum:
            narrowed.append(f"{place} takes {len(after.enum)} values only")
        else:
            _compare_names(f"{place} takes", before.enum, after.enum, more=widened, fewer=narrowed)
    _compare_bounds(f"{place}: minimum", before.minimum, after.minimum, widened, narrowed, lower_is_wider=True)
    _compare_bounds(f"{place}: maximum", before.maximum, after.maximum, widened, narrowed, lower_is_wider=False)


def _compare_names(
    place: str, before: tuple[str, ...], after: tuple[str, ...], *, more: list[str], fewer: list[str]
) -> None:
    more += [f"{place} {name}" for name in after if name not in before]
    fewer += [f"{place} {name} no longer" for name in before if name not in after]


def _compare_bounds(
    place: str,
    before: int | None,
    after: int | None,
    widened: list[str],
    narrowed: list[str],
    *,
    lower_is_wider: bool,
) -> None:
    if before == after:
        return
    wider = after is None or (before is not None and (after < before) == lower_is_wider)
    (widened if wider else narrowed).append(f"{place} was {before} and is {after}")


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join("[]" if step == 0 else str(step) for step in path)
