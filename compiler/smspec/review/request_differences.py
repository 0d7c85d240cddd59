"""The differences between two requests, in their smallest meaningful parts."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.source import Path
from smspec.source.frozen import dataclass

_NAMED_BY: dict[Path, str] = {
    ("InputDataConfig",): "ChannelName",
    ("AlgorithmSpecification", "MetricDefinitions"): "Name",
    ("ResourceConfig", "InstanceGroups"): "InstanceGroupName",
    ("Tags",): "Key",
    ("DebugRuleConfigurations",): "RuleConfigurationName",
    ("ProfilerRuleConfigurations",): "RuleConfigurationName",
}
"""Lists whose items have names: one that moved is the same one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One difference.

    ``at`` contains the names of named items; ``old_path`` and ``new_path`` are paths in the payloads.

    ``old`` or ``new`` None: it is missing.
    """

    at: Path
    old_path: Path
    new_path: Path
    old: object
    new: object


def leaves(old: dict[str, object], new: dict[str, object]) -> Iterator[Leaf]:
    """Yield every difference, in the order of the new payload; removed members come last in their group."""
    return _structures(old, new, (), (), ())


def reordered(old: dict[str, object], new: dict[str, object]) -> list[Path]:
    """Return the lists of named items that contain the same names in a different order."""
    return [
        path
        for path in _NAMED_BY
        if (before := _names(_at(old, path), path)) != (after := _names(_at(new, path), path))
        and sorted(before) == sorted(after)
    ]


def _structures(old: object, new: object, at: Path, old_path: Path, new_path: Path) -> Iterator[Leaf]:
    if at in _NAMED_BY and (isinstance(old, list) or isinstance(new, list)):
        yield from _named(_listed(old), _listed(new), at, old_path, new_path)
    elif isinstance(old or {}, dict) and isinstance(new or {}, dict) and (old or new):
        before, after = _members(old), _members(new)
        for name in dict.fromkeys([*after, *before]):
            paths = (*at, name), (*old_path, name), (*new_path, name)
            yield from _structures(before.get(name), after.get(name), *paths)
    elif not _same(old, new):
        yield Leaf(at=at, old_path=old_path, new_path=new_path, old=old, new=new)


def _named(old: list[object], new: list[object], at: Path, old_path: Path, new_path: Path) -> Iterator[Leaf]:
    before, after = _by_name(old, at), _by_name(new, at)
    for name in dict.fromkeys([*after, *before]):
        places = [
            (*path, found[name][0]) if name in found else path
            for path, found in ((old_path, before), (new_path, after))
        ]
        here = (*at, name)
        if name in before and name in after:
            yield from _structures(before[name][1], after[name][1], here, *places)
        else:
            gone, come = (found[name][1] if name in found else None for found in (before, after))
            yield Leaf(at=here, old_path=places[0], new_path=places[1], old=gone, new=come)


def _by_name(items: list[object], at: Path) -> dict[str, tuple[int, object]]:
    """Return index and item by name; one with a duplicate name, or none, gets its number too."""
    found: dict[str, tuple[int, object]] = {}
    for index, item in enumerate(items):
        name = str(item.get(_NAMED_BY[at], "")) if isinstance(item, dict) else ""
        found[name if name and name not in found else f"{name}#{index}"] = index, item
    return found


def _names(items: object, at: Path) -> list[str]:
    return list(_by_name(_listed(items), at))


def _at(value: object, path: Path) -> object:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _members(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _same(old: object, new: object) -> bool:
    """Return whether two JSON values are equal: 1 and true are not."""
    return old == new and isinstance(old, bool) == isinstance(new, bool)
