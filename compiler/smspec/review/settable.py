"""Values that variables give: two versions may be equal by the defaults, and different jobs with `--set`.

What is compared is a job with the defaults, and CI may submit it with others. So a value that is moved into a variable,
or out of one, is a change of its kind, also where the default is what was written before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from smspec.review.change import Change, quoted
from smspec.review.kinds.members import CEILING
from smspec.review.request_differences import meaning
from smspec.review.version import JobVersion, Pair
from smspec.service.request import LISTS_OF_RULES
from smspec.source import Path, dotted, to_data
from smspec.spec.keys import ROWS
from smspec.spec.keys.row import KeyRow

IS_SETTABLE = "a variable sets it now, and `--set` may give that any value"
IS_SET_OTHERWISE = "a different variable sets it, and `--set` may give that any value"
IS_FIXED = "no variable sets it now, so `--set` does not"
_CEILING = "cost ceiling for any value of `--set`"
_WORDS = (IS_SETTABLE, IS_SET_OTHERWISE, IS_FIXED, _CEILING)

_MORE_KINDS = {
    "name": ("image",),
    "job_name": ("restart",),
    "account": ("image", "security"),
    "image.secrets.*.env": ("security",),
    "image.secrets.*.file": ("security",),
    "entry_point.command": ("image",),
    "region": ("image", "security"),
    "image": ("security",),
    "image.base": ("security",),
    "image.repository": ("security",),
    "source": ("image",),
    "source.dir": ("image",),
    "source.delivery": ("image",),
    "distribution": ("hosts",),
}
"""Kinds besides that of the key: the registry of an image is a part of its name, and the source a layer of it."""
_IN_THE_CEILING = (
    *("hosts.instance_type", "hosts.count", "hosts.groups", "hosts.any_of", "hosts.keep_alive", "region"),
)
_MEMBERS_IN_THE_CEILING = (
    *("ResourceConfig", "StoppingCondition", "RetryStrategy", "EnableManagedSpotTraining"),
    *LISTS_OF_RULES,
)
_OF_NO_EFFECT = ("", "cosmetic")
_SPACE = re.compile(r"\s+")


def settable_changes(pair: Pair) -> Iterator[Change]:
    """Yield the changes of what options can set, for each kind that the value has."""
    old, new = _settable(pair.old), _settable(pair.new)
    items = _items_with_variables(pair.old)
    only_moved = {around for around, found in _items_with_variables(pair.new).items() if items.get(around) == found}
    for path in dict.fromkeys([*new, *old]):
        was, will = old.get(path), new.get(path)
        if was is not None and will is not None and _SPACE.sub("", was) == _SPACE.sub("", will):
            continue
        if _list_around(path) in only_moved:
            continue
        what = IS_FIXED if will is None else IS_SETTABLE if was is None else IS_SET_OTHERWISE
        values = _written(pair.old, path, was), _written(pair.new, path, will)
        for kind in _kinds(path):
            is_ceiling = kind == "cost" and will is not None
            yield pair.change(
                kind,
                path,
                _CEILING if is_ceiling else what,
                old=values[0],
                new=values[1],
                brief=CEILING if is_ceiling else "",
            )


def is_of_variables(change: Change) -> bool:
    """Return whether a change is about what options can set, not about an effect with the defaults."""
    return change.what in _WORDS


def of_settable(changes: Sequence[Change]) -> str:
    """Return the phrase of a summary that names what options can set."""
    names = list(dict.fromkeys(quoted(dotted(change.path)) for change in changes))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"depends differently on `--set` ({', '.join(names[:3])}{more})"


def _settable(version: JobVersion) -> Mapping[Path, str]:
    """Return path → text; none of a request, which has no variables."""
    return {} if version.writing is None else dict(version.writing.document.settable)


def _items_with_variables(version: JobVersion) -> dict[Path, list[str]]:
    """Return, for each list, what identifies its items that have variables, wherever they are in it.

    An item is the same with all that is in it, and an argument with the one before it; of equal ones, the first is.
    """
    texts: dict[Path, dict[int, list[tuple[Path, str]]]] = {}
    for path, text in _settable(version).items():
        for depth, step in enumerate(path):
            if isinstance(step, int):
                texts.setdefault(path[:depth], {}).setdefault(step, []).append((path[depth + 1 :], text))
    found: dict[Path, list[str]] = {}
    for around, items in texts.items():
        written = _written(version, around)
        places = _places_among_equal(written if isinstance(written, list) else [])
        found[around] = sorted(repr((*places[number], sorted(own))) for number, own in items.items())
    return found


def _places_among_equal(values: list[object]) -> list[tuple[object, str, int]]:
    """Return each item of a list, the argument before it, and how many equal items are before it."""
    found: list[tuple[object, str, int]] = []
    numbers = Counter[tuple[str, str]]()
    for number, value in enumerate(values):
        before = str(values[number - 1]) if number and not isinstance(value, dict | list) else ""
        equal = str(value), before
        found.append((value, before, numbers[equal]))
        numbers[equal] += 1
    return found


def _list_around(path: Path) -> Path | None:
    """Return the path of the innermost list that a path leads through."""
    return next((path[:depth] for depth in range(len(path) - 1, -1, -1) if isinstance(path[depth], int)), None)


def _written(version: JobVersion, path: Path, text: str | None = None) -> object:
    """Return the text with variables, or the value where there are none."""
    if text is not None or version.writing is None:
        return text
    node = version.writing.document.node(path)
    return None if node is None else to_data(node)


def _kinds(path: Path) -> Iterator[str]:
    names = [str(step) for step in path]
    if names[0] == "api":
        yield from dict.fromkeys(("security", *meaning(path[1:]).kinds))
        if names[1] in _MEMBERS_IN_THE_CEILING:
            yield "cost"
        return
    if names[0] == "channels" and "api" in names:
        yield from dict.fromkeys(("data", *meaning(("InputDataConfig", "", *names[names.index("api") + 1 :])).kinds))
        return
    row = max((row for row in ROWS if _leads_to(row, names)), key=lambda row: row.path.count("."), default=None)
    if row is None or row.kind in _OF_NO_EFFECT:
        return
    yield row.kind
    yield from _MORE_KINDS.get(row.path, ())
    if row.path.startswith(_IN_THE_CEILING):
        yield "cost"


def _leads_to(row: KeyRow, names: list[str]) -> bool:
    steps = row.path.split(".")
    return len(steps) <= len(names) and all(step in ("*", name) for step, name in zip(steps, names, strict=False))
