"""A part of a request under construction: its members, and the key of the spec for each.

Keys are put as their rows define: each at its member, with the key as its origin. A hyperparameter is a typed value,
encoded as a string so that a script decodes what the author wrote. Scripts decode as SageMaker's toolkits do: as JSON
if it is valid JSON, else as the string itself.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable

from smspec.service.patterns import LINE_TERMINATORS
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import KeyRow, StructureForm, StructureListForm
from smspec.spec.model import Hyperparameter, HyperparameterEncoding

_ESCAPED = str.maketrans({character: f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"})


class Draft:
    """Members in the order in which they were set.

    An omitted member has an origin too, so its absence can be reported there.

    ``names`` are paths whose string is the name of a key in the spec; ``idle`` are origins of nulls that removed
    nothing. ``shared`` are members of other drafts too.
    """

    def __init__(self) -> None:
        self.members: dict[str, object] = {}
        self.origins: dict[Path, Path] = {}
        self.names: set[Path] = set()
        self.idle: set[Path] = set()
        self.shared: set[str] = set()
        self._around: set[Path] = set()

    def put(self, path: Path, value: object, origin: Path) -> None:
        """Set a member; omit None, and an empty list or mapping. The structures around it get the same origin."""
        self.place(path, origin)
        if value is None or value == () or value == {}:
            return
        *parents, name = path
        if path[0] in self.shared:
            self._own(str(path[0]))
        holder = self.members
        for depth, parent in enumerate(parents, 1):
            above = path[:depth]
            if above not in self.origins:
                self.origins[above] = origin
                self._around.add(above)
            holder = holder.setdefault(parent, {})  # type: ignore[assignment, arg-type]  # a draft nests mappings
        holder[str(name)] = list(value) if isinstance(value, tuple) else value

    def place(self, path: Path, origin: Path) -> None:
        """Set the origin of a part of a value that was set as a whole."""
        self.origins[path] = origin
        self._around.discard(path)

    def add(self, part: Draft) -> None:
        """Add the members of a finished draft, as if they were put here; other drafts can have the same ones."""
        # The structures around a member have the origin that was set first.
        before = {path: self.origins[path] for path in part._around if path in self.origins}
        self.origins.update(part.origins)
        self.origins.update(before)
        self._around |= part._around - before.keys()
        self.names |= part.names
        self.idle |= part.idle
        for name, value in part.members.items():
            if name not in self.members:
                self.members[name] = value
                self.shared.add(name)
            else:
                self._own(name)
                _join(self.members[name], value)

    def _own(self, name: str) -> None:
        """Copy a member before it is changed, if it is shared."""
        if name in self.shared:
            self.shared.remove(name)
            self.members[name] = _copied(self.members[name])

    def patch(self, patch: dict[str, object], origin: Path) -> None:
        """Merge a patch into the members, as in RFC 7396."""
        self.shared.difference_update(patch)
        self.members = self._merged(self.members, patch, (), origin)

    def _merged(self, target: object, patch: dict[str, object], path: Path, origin: Path) -> dict[str, object]:
        merged = dict(target) if isinstance(target, dict) else {}
        if not isinstance(target, dict):
            self._forget(path, target)
            self.origins[path] = origin
        for name, value in patch.items():
            here, there = (*path, name), (*origin, name)
            if value is None:
                if name not in merged:
                    self.idle.add(there)
                self._forget(here, merged.pop(name, None))
                self.origins[here] = there
            elif isinstance(value, dict):
                merged[name] = self._merged(merged.get(name), value, here, there)
            else:
                self._forget(here, merged.get(name))
                merged[name] = value
                self._place_all(value, here, there)
        return merged

    def _forget(self, path: Path, value: object) -> None:
        """Remove the origin of a value, and of every part of it."""
        if not isinstance(value, dict | list):
            # Nothing is below it; searching would compare thousands of members thousands of times.
            self.origins.pop(path, None)
            self.names.discard(path)
            return
        for known in [known for known in self.origins if known[: len(path)] == path]:
            del self.origins[known]
        self.names = {name for name in self.names if name[: len(path)] != path}

    def _place_all(self, value: object, path: Path, origin: Path) -> None:
        self.origins[path] = origin
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in entries:
            self._place_all(inner, (*path, key), (*origin, key))


def _copied(value: object) -> object:
    return {name: _copied(inner) for name, inner in value.items()} if isinstance(value, dict) else value


def _join(target: object, value: object) -> None:
    """Add what is in a mapping to another one."""
    assert isinstance(target, dict) and isinstance(value, dict)
    for name, inner in value.items():
        if name in target and isinstance(inner, dict):
            _join(target[name], inner)
        else:
            target[name] = _copied(inner)


@dataclass(frozen=True, slots=True)
class SentKey:
    """What sends a key: ``member`` is its path in the draft, ``below`` are the keys of its value, or of each item."""

    name: str
    member: Path
    below: tuple[SentKey, ...] = ()
    is_structure: bool = False
    is_list: bool = False


@functools.cache
def sent_keys(path: str, outside: int = 0) -> tuple[SentKey, ...]:
    """Return the keys below a path of the spec that their rows send; a function handles each irregular one.

    ``outside``: how many steps of a member are outside the draft.
    """
    return tuple(_sent_key(row, outside) for row in rows_below(path) if row.member and not row.irregular)


def _sent_key(row: KeyRow, outside: int) -> SentKey:
    member = row.steps[outside:]
    if isinstance(row.form, StructureForm):
        return SentKey(row.name, member, sent_keys(row.path, outside), is_structure=True)
    if isinstance(row.form, StructureListForm):
        return SentKey(row.name, member, sent_keys(f"{row.path}.*", len(row.steps) + 1), is_list=True)
    return SentKey(row.name, member)


def put_keys(draft: Draft, keys: Iterable[SentKey], holder: object, here: Path) -> None:
    """Put the keys of a mapping; ``holder`` is its value in the model, ``here`` its path in the spec."""
    for key in keys:
        value, origin, member = getattr(holder, key.name), (*here, key.name), key.member
        if key.is_structure:
            draft.place(member, origin)
            if value is not None:
                put_keys(draft, key.below, value, origin)
        elif key.is_list and isinstance(value, tuple):
            _put_items(draft, key, value, origin)
        elif value is None:
            draft.place(member, origin)
        else:
            draft.put(member, value, origin)
            if isinstance(value, tuple | dict):
                for part in value if isinstance(value, dict) else range(len(value)):
                    draft.place((*member, part), (*origin, part))


def _put_items(draft: Draft, key: SentKey, value: tuple[object, ...], origin: Path) -> None:
    items = [Draft() for _ in value]
    for index, (item, holder) in enumerate(zip(items, value, strict=True)):
        item.place((), (*origin, index))
        put_keys(item, key.below, holder, (*origin, index))
    draft.put(key.member, tuple(item.members for item in items), origin)
    for index, item in enumerate(items):
        for path, there in item.origins.items():
            draft.place((*key.member, index, *path), there)


def encoded(hyperparameter: Hyperparameter, encoding: HyperparameterEncoding) -> str:
    """Return the string that is sent."""
    value = hyperparameter.value
    if isinstance(value, str):
        if encoding == "raw" or (encoding == "json" and is_bare(value)):
            return value
        return _json(value)
    if isinstance(value, dict | list):
        return _json(value)
    if encoding == "raw" and hyperparameter.text:
        return hyperparameter.text
    return hyperparameter.text if _decodes_to(hyperparameter.text, value) else _json(value)


def is_bare(text: str) -> bool:
    """Return whether a string decodes as itself if sent unchanged, and is a single line, as the API requires."""
    if any(character in text for character in LINE_TERMINATORS):
        return False
    try:
        json.loads(text)
    except RecursionError:
        return False
    except ValueError:
        return True
    return False


def _decodes_to(text: str, value: object) -> bool:
    """Return whether a string is JSON for exactly this value: `1e-3` is, `.5`, `+5`, and `.inf` are not."""
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return type(decoded) is type(value) and (decoded == value or (_is_nan(decoded) and _is_nan(value)))


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _json(value: object) -> str:
    """Return JSON in one line. Letters of other scripts stay unescaped: the API limits the number of characters."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)
