"""Raw requests with one fault at a position that is known without parsing."""

from __future__ import annotations

import json
from itertools import pairwise

from smspec.source import Path

GONE = object()
"""In the place of a value: the member is left out."""

_SENTINEL = "here it is"


def changed(request: dict[str, object], *changes: tuple[Path, object]) -> dict[str, object]:
    """Return a copy in which each path has another value, or is gone; what leads there is made."""
    changed = _copied(request)
    for path, value in changes:
        holder = changed
        for step, following in pairwise(path):
            if isinstance(holder, list) and step == len(holder):
                holder.append([] if isinstance(following, int) else {})
            holder = holder[step] if isinstance(holder, list) else holder.setdefault(step, _empty(following))
        if value is GONE:
            del holder[path[-1]]
        elif isinstance(holder, list) and path[-1] == len(holder):
            holder.append(_copied(value))
        else:
            holder[path[-1]] = _copied(value)
    return changed


def _copied(request: object) -> object:
    """Return a copy in which no two places are one object."""
    return json.loads(json.dumps(request))


def _empty(following: str | int) -> object:
    return [] if isinstance(following, int) else {}


def place_of(request: object, path: Path, on: str = "value") -> tuple[int, int]:
    """Return line and column of a value, or of its key, in the text of `written`; the nearest that is there.

    A value is found by writing the request once more with another value there: the texts are equal up to it.
    """
    while path and not _is_there(request, path):
        path, on = path[:-1], "key"
    if not path:
        return 1, 1
    marked = _copied(request)
    holder = marked
    for step in path[:-1]:
        holder = holder[step]
    if on == "key" and isinstance(holder, dict):
        items = [(_SENTINEL if key == path[-1] else key, value) for key, value in holder.items()]
        holder.clear()
        holder.update(items)
    else:
        holder[path[-1]] = _SENTINEL
    at = written(marked).index(f'"{_SENTINEL}"')
    before = written(marked)[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1


def _is_there(request: object, path: Path) -> bool:
    for step in path:
        if isinstance(request, dict):
            if step not in request:
                return False
        elif not (isinstance(request, list) and isinstance(step, int) and step < len(request)):
            return False
        request = request[step]
    return True


def written(request: object) -> str:
    """Return the text of a request, a member a line."""
    return json.dumps(request, indent=2, ensure_ascii=False) + "\n"
