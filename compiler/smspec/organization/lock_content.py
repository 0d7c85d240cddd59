"""Parse the content of a lockfile, and check the form of every entry.

A locked environment is decoded and checked when a job needs it. There may be hundreds, with thousands of packages, and
a spec needs one. `smspec lock` writes each at an indentation of four, so that one can be found, and its line shown,
without parsing the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from collections.abc import Mapping as Environments
from datetime import date
from typing import cast

from smspec.diagnostics import Finding, InvalidInput, Rule, placed, placed_at
from smspec.service.image_reference import DIGEST, parsed_reference
from smspec.service.json_parser import decode_json_bytes, read_json
from smspec.source import Document, Mapping, Path, Scalar, SourceText, Span, to_data
from smspec.spec.lock import PYTHON, VERSION, Lock, LockedEnvironment

MALFORMED_LOCK = Rule("SM723", "malformed lockfile")
HELP = "restore the committed file, or remove it and run `smspec lock`"

_OPENING = b'\n  "environments": {\n'
_CLOSING = b"\n  }"
_ENTRY = re.compile(rb'\n    "([^"\\\n]*)":')
_CONFLICT = b"\n<<<<<<< "
_KEY = re.compile(r"[0-9a-f]{16}")
_PYTHON = re.compile(r"3\.\d{1,2}")

_ENVIRONMENTS = "environments"


class LockEnvironments(Environments[str, LockedEnvironment]):
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
        for match in _ENTRY.finditer(self._content, self._begin, self._end):
            key = match[1].decode("utf-8", "replace")
            if not _KEY.fullmatch(key):  # it is the name of a file, which may be removed
                raise self.rejected(match.start() + 5, f"`{key}` is not the key of a locked environment")
            yield key

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


def decoded(data: Environments[str, object]) -> LockedEnvironment:
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


def lock_content(path: str, content: bytes) -> Lock:
    """Return the lock in the content of a file. Raise `InvalidInput`, with positions, if it is not valid."""
    environments = lock_environments(path, content)
    if environments is None:
        return _lock(path, content, None)
    try:
        return _lock(path, environments.rest(keeps_lines=False), environments)
    except InvalidInput:
        return _lock(path, environments.rest(keeps_lines=True), environments)


def _lock(path: str, content: bytes, environments: LockEnvironments | None) -> Lock:
    """Return the lock in a text; ``environments``: those that it is without."""
    document = read_json(decode_json_bytes(path, content))
    findings = _faults(document)
    if findings:
        raise InvalidInput(placed(findings, document), document.texts)
    return Lock(
        names=_texts(document, "names"),
        images=_texts(document, "images"),
        pythons=_texts(document, "pythons"),
        requirements=_texts(document, "requirements"),
        environments=_environments(document) if environments is None else environments,
        smspec=_text(document, "smspec"),
        api_model=_text(document, "api_model"),
        image_table=_text(document, "image_table"),
        locked=_text(document, "locked"),
    )


def _faults(document: Document) -> list[Finding]:
    root = document.root
    if not isinstance(root, Mapping):
        return [MALFORMED_LOCK.at((), "smspec.lock is not a lockfile", help=HELP)]
    version = root.get("lock")
    if not isinstance(version, Scalar) or version.value != VERSION:
        help = f"this smspec reads version {VERSION}; {HELP}"
        return [MALFORMED_LOCK.at(("lock",), "not a version of the lock that this smspec reads", help=help)]
    findings: list[Finding] = []
    for name, is_valid, lacks in _SECTIONS:
        node = root.get(name)
        if node is not None and not isinstance(node, Mapping):
            findings.append(MALFORMED_LOCK.at((name,), f"`{name}` is not an object", help=HELP))
        for key, value in node.entries if isinstance(node, Mapping) else ():
            at: Path = (name, key.text)
            if not isinstance(value, Scalar) or not is_valid(str(value.value)):
                findings.append(MALFORMED_LOCK.at(at, f"`{key.text}` has no {lacks} in smspec.lock", help=HELP))
    node = root.get(_ENVIRONMENTS)
    if node is not None and not isinstance(node, Mapping):
        findings.append(MALFORMED_LOCK.at((_ENVIRONMENTS,), f"`{_ENVIRONMENTS}` is not an object", help=HELP))
    for key, value in node.entries if isinstance(node, Mapping) else ():
        for field, message in environment_faults(key.text, to_data(value)).items():
            at = (_ENVIRONMENTS, key.text, *([field] if field else []))
            findings.append(MALFORMED_LOCK.at(at, message, help=HELP))
    for name in ("smspec", "api_model", "image_table"):
        node = root.get(name)
        if node is not None and not (isinstance(node, Scalar) and isinstance(node.value, str)):
            findings.append(MALFORMED_LOCK.at((name,), f"`{name}` is not a string", help=HELP))
    node = root.get("locked")
    if node is not None and not (isinstance(node, Scalar) and _is_date(str(node.value))):
        findings.append(MALFORMED_LOCK.at(("locked",), "`locked` is not a date", help=HELP))
    return findings


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_digest(text: str) -> bool:
    return re.fullmatch(DIGEST, text) is not None


def _is_uri(text: str) -> bool:
    """Return whether a string is a whole image URI with a tag, as a short name stands for."""
    image = parsed_reference(text)
    return image is not None and image.registry is not None and image.tag is not None and image.digest is None


_SECTIONS: tuple[tuple[str, Callable[[str], bool], str], ...] = (
    ("names", _is_uri, "image URI"),
    ("images", _is_digest, "digest"),
    ("pythons", lambda text: re.fullmatch(PYTHON, text) is not None, "version of Python"),
    ("requirements", _is_digest, "digest"),
)
"""Sections of a lock with the form of their values."""


def _environments(document: Document) -> dict[str, LockedEnvironment]:
    node = document.node((_ENVIRONMENTS,))
    entries = node.entries if isinstance(node, Mapping) else ()
    return {key.text: decoded(cast("dict[str, object]", to_data(value))) for key, value in entries}


def _texts(document: Document, name: str) -> dict[str, str]:
    node = document.node((name,))
    entries = node.entries if isinstance(node, Mapping) else ()
    return {key.text: str(value.value) for key, value in entries if isinstance(value, Scalar)}


def _text(document: Document, name: str) -> str:
    node = document.node((name,))
    return str(node.value) if isinstance(node, Scalar) else ""
