"""The locked environments of a lockfile, each decoded and checked when a job needs it.

There may be hundreds, with thousands of packages, and a spec needs one. `smspec lock` writes each at an indentation of
four, so that one can be found, and its line shown, without parsing the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

from smspec.diagnostics import InvalidInput, Rule
from smspec.diagnostics.diagnostic import placed_at
from smspec.service.image_reference import DIGEST
from smspec.source import SourceText, Span
from smspec.spec.lock import LockedEnvironment

MALFORMED_LOCK = Rule("SM723", "malformed lockfile")
HELP = "restore the committed file, or remove it and run `smspec lock`"

_OPENING = b'\n  "environments": {\n'
_CLOSING = b"\n  }"
_ENTRY = re.compile(rb'\n    "([^"\\\n]*)":')
_CONFLICT = b"\n<<<<<<< "
_KEY = re.compile(r"[0-9a-f]{16}")
_PYTHON = re.compile(r"3\.\d{1,2}")


class LockEnvironments(Mapping[str, LockedEnvironment]):
    """Those of a lockfile, in the section from ``begin`` to ``end``. Raises `InvalidInput` for the entry at fault."""

    def __init__(self, name: str, content: bytes, begin: int, end: int) -> None:
        self._name = name
        self._content = content
        self._begin = begin
        self._end = end
        self._known: dict[str, LockedEnvironment] = {}
        self._starts: dict[bytes, list[int]] | None = None

    def __getitem__(self, key: str) -> LockedEnvironment:
        if key not in self._known:
            self._known[key] = self._read(key)
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return (match[1].decode("utf-8", "replace") for match in _ENTRY.finditer(self._content, self._begin, self._end))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return _ENTRY.search(self._content, self._begin, self._end) is not None

    def rest(self, *, keeps_lines: bool) -> bytes:
        """Return the lockfile without its environments. Empty lines instead of theirs would take a while to parse."""
        lines = self._content.count(b"\n", self._begin, self._end) if keeps_lines else 0
        return self._content[: self._begin] + b"\n" * lines + self._content[self._end :]

    def _read(self, key: str) -> LockedEnvironment:
        header = b'\n    "%s":' % key.encode()
        starts = self._starts_of(key.encode(), header)
        if not starts:
            raise KeyError(key)
        if len(starts) > 1:
            raise self.rejected(starts[1] + 5, f"`{key}` is twice in smspec.lock")
        start = starts[0]
        behind = self._content.find(b'\n    "', start + 1, self._end)
        end = self._end if behind < 0 else behind
        entry = self._content[start:end].rstrip()
        if entry.endswith(b",") == (behind < 0):
            fault = "an unexpected comma" if behind < 0 else "no comma"
            raise self.rejected(start + len(entry) - 1, f"`{key}` ends with {fault} in smspec.lock")
        text = entry.removesuffix(b",").decode("utf-8", "replace")
        try:
            data = json.loads(f"{{{text}}}", object_pairs_hook=_unique)[key]
        except (ValueError, RecursionError) as fault:
            at = fault.pos - 1 if isinstance(fault, json.JSONDecodeError) else 5
            raise self.rejected(start + len(text[:at].encode()), f"`{key}` is not valid JSON in smspec.lock") from None
        found = environment_faults(key, data)
        for field, message in found.items():
            at = self._content.find(b'"%s"' % field.encode(), start + len(header), end) if field else start + 5
            raise self.rejected(start + 5 if at < 0 else at, message)
        return decoded(data)

    def _starts_of(self, key: bytes, header: bytes) -> list[int]:
        """Return where the entries of a key start. The first search is for one job; for others, keep an index."""
        if not self._known and self._starts is None:
            self._starts = {}
            first = self._content.find(header, self._begin, self._end)
            again = first if first < 0 else self._content.find(header, first + 1, self._end)
            return [start for start in (first, again) if start >= 0]
        if not self._starts:
            found: dict[bytes, list[int]] = {}
            for match in _ENTRY.finditer(self._content, self._begin, self._end):
                found.setdefault(match[1], []).append(match.start())
            self._starts = found
        return self._starts.get(key, [])

    def rejected(self, offset: int, message: str) -> InvalidInput:
        """Return the error at an offset of the file."""
        line = self._content.count(b"\n", 0, offset) + 1
        begin = self._content.rfind(b"\n", 0, offset) + 1
        column = len(self._content[begin:offset].decode("utf-8", "replace")) + 1
        span = Span(self._name, line, column, line, column + 1)
        text = SourceText(self._name, self._content.decode("utf-8", "replace"))
        return InvalidInput([placed_at(span, MALFORMED_LOCK.at(("environments",), message, help=HELP))], (text,))


def lock_environments(name: str, content: bytes) -> LockEnvironments | None:
    """Return the environments of a lockfile; None if it has none, or they are written differently.

    Raise `InvalidInput` for a merge conflict in them.
    """
    start = content.find(_OPENING)
    begin = start + len(_OPENING) - 1
    end = content.find(_CLOSING, begin)
    if start < 0 or end < 0:
        return None
    environments = LockEnvironments(name, content, begin, end)
    conflict = content.find(_CONFLICT, begin, end)
    if conflict >= 0:
        raise environments.rejected(conflict + 1, "a merge conflict in smspec.lock is not resolved")
    return environments


def environment_faults(key: str, data: object) -> dict[str, str]:
    """Return what is wrong with an entry: a message for each field, the empty one for all of them."""
    if not _KEY.fullmatch(key):
        return {"": f"`{key}` is not the key of a locked environment"}
    if not isinstance(data, dict):
        return {"": f"`{key}` is not an object"}
    return {
        name: f"`{key}` has no valid `{name}` in smspec.lock"
        for name, is_valid in _FIELDS.items()
        if not is_valid(data.get(name))
    }


def decoded(data: Mapping[str, object]) -> LockedEnvironment:
    """Return an entry without faults."""
    members = {name: data[name] for name in _FIELDS}
    members = {name: tuple(value) if isinstance(value, list) else value for name, value in members.items()}
    return LockedEnvironment(**members)  # type: ignore[arg-type]  # `environment_faults` has checked it


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_FIELDS: dict[str, Callable[[object], bool]] = {
    "base": _is_text,
    "platform": _is_text,
    "python": lambda value: isinstance(value, str) and _PYTHON.fullmatch(value) is not None,
    "packages": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "modules": _are_texts,
    "unlisted": _are_texts,
    "digest": lambda value: isinstance(value, str) and re.fullmatch(DIGEST, value) is not None,
    "resolver": _is_text,
}
"""The fields of an entry, and whether a value is one."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate member")
    return found
