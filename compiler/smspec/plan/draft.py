"""A part of a request under construction: its members, and the key of the spec for each."""

from __future__ import annotations

from smspec.source import Path


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
