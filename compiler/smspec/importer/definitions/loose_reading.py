"""Read definitions as their tools do: YAML with tags and aliases, JSON of several megabytes, both without positions.

The strict readers of smspec come first, because their errors have positions. These are for what they reject.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Union, cast

import yaml

from smspec.importer.marks import MARK
from smspec.spec.yaml.events import PARSER, Event, meaning

MOST_DEPTH = 100
MOST_PARTS = 500_000
_STRING_OR_PLACEHOLDER = re.compile(rf'"(?:[^"\\]|\\.)*"|(?P<bare>\$\{{[A-Za-z0-9_.:-]{{1,100}}\}}|{MARK.pattern})')
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_MERGE = "<<"
Collection = Union[list[object], dict[str, object]]


class NotReadable(Exception):
    """A text that is neither; or that is beyond the limits."""


def read_json_loosely(text: str) -> object:
    """Return the value of a JSON text. Placeholders ``${X}`` and marks may take the place of a number, without quotes.

    Raise `NotReadable` if it is not JSON, or beyond the limits.
    """
    try:
        value = _json(text)
    except (ValueError, RecursionError):
        quoted = _STRING_OR_PLACEHOLDER.sub(lambda found: f'"{found[0]}"' if found["bare"] else found[0], text)
        try:
            value = _json(quoted)
        except (ValueError, RecursionError) as fault:
            raise NotReadable("not JSON") from fault
    check_size(value)
    if _HALF_CHARACTER.search(text) and _has_half_characters(value):
        raise NotReadable("an unpaired surrogate")
    return value


def _has_half_characters(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _json(text: str) -> object:
    return json.loads(text, strict=False)


def check_size(value: object) -> None:
    """Raise `NotReadable` if a value has more parts or levels than any definition."""
    level, parts = [value], 0
    for _ in range(MOST_DEPTH):
        if not level:
            return
        parts += len(level)
        if parts > MOST_PARTS:
            raise NotReadable("too large")
        level = [inner for one in level for inner in _inside(one)]
    if level:
        raise NotReadable("nested too deep")


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def read_yaml_loosely(text: str) -> list[object]:
    """Return the documents of a YAML text; a tag ``!X`` becomes the function of CloudFormation that it abbreviates.

    Raise `NotReadable` if it is not YAML, or beyond the limits.
    """
    parser = PARSER(text)
    following = cast("Callable[[], Event]", parser.get_event)
    documents: list[object] = []
    builder = _Builder()
    try:
        while True:
            event = following()
            kind: type[object] = type(event)
            if kind is yaml.StreamEndEvent:
                return documents
            if kind is yaml.DocumentStartEvent:
                builder = _Builder()
            elif kind is yaml.DocumentEndEvent:
                documents.append(builder.root)
            elif kind is not yaml.StreamStartEvent:
                builder.add(kind, event)
    except (yaml.YAMLError, ValueError) as fault:
        raise NotReadable("not YAML") from fault


class _Open:
    """A list or mapping that has not ended."""

    def __init__(
        self, value: list[object] | dict[str, object], tag: str | None, anchor: str | None, parts: int
    ) -> None:
        self.value = value
        self.tag = tag
        self.anchor = anchor
        self.key: str | None = None
        self.begun = parts


class _Builder:
    """Builds a value from events. An alias counts as all the parts that it repeats."""

    def __init__(self) -> None:
        self.root: object = None
        self._stack: list[_Open] = []
        self._anchored: dict[str, tuple[object, int]] = {}
        self._parts = 0

    def add(self, kind: type[object], event: Event) -> None:
        self._parts += 1
        if kind is yaml.AliasEvent:
            value, parts = self._anchored.get(event.anchor or "", (None, -1))
            if parts < 0:
                raise NotReadable("an alias without a value")
            self._parts += parts
            self._put(value)
        elif kind is yaml.ScalarEvent:
            is_plain = not event.style and event.tag is None
            found: object = meaning(event.value) if is_plain else event.value
            self._finished(_with_function(event.tag, found), event.anchor, self._parts - 1)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            begun: Collection = {} if kind is yaml.MappingStartEvent else []
            self._stack.append(_Open(begun, event.tag, event.anchor, self._parts))
            if len(self._stack) > MOST_DEPTH:
                raise NotReadable("nested too deep")
        else:
            ended = self._stack.pop()
            self._finished(_with_function(ended.tag, ended.value), ended.anchor, ended.begun)
        if self._parts > MOST_PARTS:
            raise NotReadable("too large")

    def _finished(self, value: object, anchor: str | None, begun: int) -> None:
        if anchor is not None:
            self._anchored[anchor] = (value, self._parts - begun)
        self._put(value)

    def _put(self, value: object) -> None:
        if not self._stack:
            self.root = value
            return
        inside = self._stack[-1]
        if isinstance(inside.value, list):
            inside.value.append(value)
        elif inside.key is None:
            inside.key = value if isinstance(value, str) else json.dumps(value, default=str)
        else:
            if inside.key == _MERGE:
                _merge(inside.value, value)
            else:
                inside.value[inside.key] = value
            inside.key = None


def _merge(into: dict[str, object], value: object) -> None:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            for name, inner in each.items():
                into.setdefault(name, inner)


def _with_function(tag: str | None, value: object) -> object:
    if tag is None or not tag.startswith("!") or tag == "!":
        return value
    name = tag[1:]
    return {name if name in ("Ref", "Condition") else f"Fn::{name}": value}
