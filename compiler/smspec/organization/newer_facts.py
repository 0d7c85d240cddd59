"""``smspec.facts.json``: what AWS has that is newer than the API model and the table of images of this smspec.

`smspec facts --update` writes it, a person reviews it, and it is merged over the pinned model. Of a shape that this
model has, entries only add members and values, and widen limits: they change no type, and nothing that is required.
They have no patterns, because a pattern of a stranger could take minutes. No rule of a policy reads them.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from smspec.diagnostics import MOST, Diagnostic, InvalidInput
from smspec.organization.dated_file import DATE, FACTS, Fault, dated_text, is_match, read_dated_file
from smspec.organization.organization_config import SettingsLayer, json_place
from smspec.organization.policy_layers import LOOSENED_POLICY
from smspec.service.instance_types import UPDATE
from smspec.service.policy import KnownFacts
from smspec.service.shapes import Kind, Model, Shape, decode_shape, pinned_model
from smspec.source import Path, SourceText, dotted
from smspec.source.frozen import dataclass, field, replace

if TYPE_CHECKING:
    from smspec.workspace.boundary import Boundary

_FACTS, _API, _IMAGES = "facts", "api", "images"
_CONTENT = {_API: "shapes", _IMAGES: "tags"}
_NAME = r"[A-Za-z0-9_]{1,128}"
_WORD = r"[!-_a-~](?:[ -_a-~]{0,254}[!-_a-~])?"
_REPOSITORY = r"[a-z0-9](?:[a-z0-9._/-]{0,254}[a-z0-9])?"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"
_MOST_DIGITS = 2**63
_KINDS = get_args(Kind)
_PARTS = ("type", "required", "min", "max", "enum", "members", "key", "member", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsOrigin:
    """``as_of``: the date of the update; ``source``: the package and its version."""

    as_of: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerFacts:
    """``shapes``: name → what it adds to the pinned shape, or all of a new one. ``tags``: repository → its tags."""

    shapes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    origins: Mapping[str, FactsOrigin] = field(default_factory=dict)

    def entries(self) -> frozenset[tuple[Path, object]]:
        """Return every single thing that is added, with its path in the file."""
        return frozenset(_entries_of(self))


def newer_facts(directory: str, boundary: Boundary) -> NewerFacts:
    """Return the facts in the file of a directory itself; none without one. Raise as `read_dated_file`."""
    facts = read_dated_file(directory, FACTS, boundary, command=UPDATE, member=_FACTS, fault_of=_fault)
    return NewerFacts(
        shapes=facts.get(_API, {}).get(_CONTENT[_API], {}),
        tags=facts.get(_IMAGES, {}).get(_CONTENT[_IMAGES], {}),
        origins={name: FactsOrigin(as_of=part["as_of"], source=part["source"]) for name, part in facts.items()},
    )


def facts_text(facts: NewerFacts) -> str:
    """Return the text of the file."""
    contents: dict[str, Mapping[str, Any]] = {_API: facts.shapes, _IMAGES: facts.tags}
    return dated_text(
        _FACTS,
        {
            name: {
                "as_of": facts.origins[name].as_of,
                "source": facts.origins[name].source,
                _CONTENT[name]: dict(sorted(content.items())),
            }
            for name, content in contents.items()
            if content
        },
    )


def with_newer_facts(known: KnownFacts, layers: Sequence[SettingsLayer]) -> KnownFacts:
    """Return facts with those in the files of the outermost directory. Raise `InvalidInput` where an inner one adds."""
    found = [(layer, newer_facts(layer.directory, layer.boundary)) for layer in layers if layer.has_dated_files]
    first = NewerFacts()
    for layer, facts in found:
        if layer.directory == layers[0].directory:
            first = facts
        elif more := facts.entries() - first.entries():
            raise _added(layer, sorted(more, key=str))
    tags = frozenset(f"{repository}:{tag}" for repository, names in first.tags.items() for tag in names)
    return replace(known, model=merged_model(first) if first.shapes else None, tags=tags)


def merged_model(facts: NewerFacts) -> Model:
    """Return the pinned model with what is newer; the same object for the same facts."""
    return _merged(json.dumps(facts.shapes, sort_keys=True), facts.origins[_API])


@functools.lru_cache(maxsize=8)
def _merged(shapes: str, origin: FactsOrigin) -> Model:
    pinned = pinned_model()
    added = {name: _shape(name, entry, pinned.shapes.get(name)) for name, entry in json.loads(shapes).items()}
    known = {**pinned.shapes, **added}
    version = origin.source.removeprefix("botocore ")
    return Model(botocore=version, date=max(pinned.date, origin.as_of), root=known[pinned.root.name], shapes=known)


def _shape(name: str, entry: Mapping[str, Any], pinned: Shape | None) -> Shape:
    if pinned is None:
        return replace(decode_shape(name, entry), pattern=None)
    return replace(
        pinned,
        members={**entry.get("members", {}), **pinned.members},
        enum=(*pinned.enum, *(word for word in entry.get("enum", ()) if pinned.enum and word not in pinned.enum)),
        minimum=_wider(min, pinned.minimum, entry.get("min")),
        maximum=_wider(max, pinned.maximum, entry.get("max")),
    )


def _wider(widest: Any, pinned: int | None, newer: int | None) -> int | None:
    return pinned if pinned is None or newer is None else widest(pinned, newer)


def together(before: NewerFacts, more: NewerFacts, known_tags: Mapping[str, Collection[str]]) -> NewerFacts:
    """Return what the facts of before and more ones add to those of smspec, which may have some of them by now.

    A colleague may have a newer botocore than the one that is installed here, so nothing of before is lost.
    """
    tags = {name: {*before.tags.get(name, ()), *more.tags.get(name, ())} for name in (*before.tags, *more.tags)}
    newer = {name: sorted(found - {*known_tags.get(name, ())}) for name, found in sorted(tags.items())}
    shapes = _joined(before.shapes, more.shapes)
    return NewerFacts(shapes=shapes, tags={name: found for name, found in newer.items() if found})


def _joined(
    before: Mapping[str, Mapping[str, Any]], more: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {name: dict(entry) for name, entry in before.items()}
    for name, entry in more.items():
        known = found.setdefault(name, {})
        for key, value in entry.items():
            old = known.get(key)
            if key == "members" and old:
                known[key] = {**old, **value}
            elif key == "enum" and old:
                known[key] = [*old, *(word for word in value if word not in old)]
            elif key in ("min", "max") and isinstance(old, int):
                known[key] = (min if key == "min" else max)(old, value)
            else:
                known[key] = value
    merged = _merged(json.dumps(found, sort_keys=True), FactsOrigin(as_of="", source=""))
    return newer_shapes(merged)


def newer_shapes(model: Model) -> dict[str, dict[str, Any]]:
    """Return what a model adds to the pinned one: new shapes whole, of known ones what is new or wider."""
    pinned, found = pinned_model(), {}
    waiting = [pinned.root.name]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        shape, before = model.shapes.get(name), pinned.shapes.get(name)
        if name in seen or shape is None or (before is not None and before.kind != shape.kind):
            continue  # a different type is a different model: this smspec is too old for it
        seen.add(name)
        waiting += [*shape.members.values(), *filter(None, (shape.item, shape.key))]
        entry = _whole(shape) if before is None else _additions(before, shape)
        if entry:
            found[name] = entry
    return dict(sorted(found.items()))


def _whole(shape: Shape) -> dict[str, Any]:
    inner = "member" if shape.kind == "list" else "value"
    parts = {
        "type": shape.kind if shape.kind in _KINDS else "any",
        "required": list(shape.required),
        "min": shape.minimum,
        "max": shape.maximum,
        "enum": list(shape.enum),
        "members": dict(shape.members),
        "key": shape.key,
        inner: shape.item,
    }
    return {name: part for name, part in parts.items() if part not in (None, "", [], {})}


def _additions(pinned: Shape, newer: Shape) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, before, after, widest in (
        ("min", pinned.minimum, newer.minimum, min),
        ("max", pinned.maximum, newer.maximum, max),
    ):
        if before is not None and after is not None and after != before and widest(before, after) == after:
            found[name] = after
    words = [word for word in newer.enum if word not in pinned.enum] if pinned.enum else []
    members = {name: kind for name, kind in newer.members.items() if name not in pinned.members}
    return {**found, **({"enum": words} if words else {}), **({"members": members} if members else {})}


def _entries_of(facts: NewerFacts) -> Iterator[tuple[Path, object]]:
    for name, entry in facts.shapes.items():
        for key, value in entry.items():
            at: Path = (_FACTS, _API, _CONTENT[_API], name, key)
            if isinstance(value, dict):
                yield from (((*at, member), kind) for member, kind in value.items())
            elif isinstance(value, list):
                yield from ((at, word) for word in value)
            else:
                yield at, value
    for repository, tags in facts.tags.items():
        yield from (((_FACTS, _IMAGES, _CONTENT[_IMAGES], repository), tag) for tag in tags)


def _added(layer: SettingsLayer, more: Sequence[tuple[Path, object]]) -> InvalidInput:
    path = os.path.normpath(os.path.join(os.path.relpath(layer.directory), FACTS))
    diagnostics: list[Diagnostic] = []
    texts: dict[SourceText, None] = {}
    for at, value in more[:MOST]:
        span, text = json_place(path, at, layer.boundary)
        texts[text] = None
        diagnostics.append(
            Diagnostic(
                code=LOOSENED_POLICY.code,
                severity=LOOSENED_POLICY.severity,
                message=f"`{dotted(at)}` adds `{value}`, which the outermost directory with settings does not have",
                span=span,
                path=at,
                help=f"remove it, or run `{UPDATE}` there: a file in an inner directory adds no facts",
            )
        )
    return InvalidInput(tuple(diagnostics), tuple(texts))


def _fault(facts: dict[str, object]) -> Fault | None:
    """Return the first fault in the facts; None if there is none."""
    for name, part in facts.items():
        at = (_FACTS, name)
        content = _CONTENT.get(name)
        if content is None or not isinstance(part, dict):
            return at, f"unknown facts `{name}`" if content is None else f"`{name}` is not an object"
        if set(part) != {"as_of", "source", content} or not isinstance(part[content], dict):
            return at, f"the facts `{name}` are not `as_of`, `source`, and `{content}`"
        for key, pattern, called in (("as_of", DATE, "a date"), ("source", _WORD, "the name of a package")):
            if not is_match(pattern, part[key]):
                return (*at, key), f"`{key}` is not {called}"
        check = _fault_of_shapes if name == _API else _fault_of_tags
        fault = check((*at, content), part[content])
        if fault is not None:
            return fault
    return None


def _fault_of_tags(at: Path, tags: dict[str, object]) -> Fault | None:
    for repository, names in tags.items():
        if not is_match(_REPOSITORY, repository) or not _are_words(names, _TAG):
            return (*at, repository), "not a list of the tags of a repository"
    return None


def _fault_of_shapes(at: Path, shapes: dict[str, object]) -> Fault | None:
    pinned = pinned_model().shapes
    names = pinned.keys() | shapes.keys()
    for name, entry in shapes.items():
        here = (*at, name)
        if not is_match(_NAME, name) or not isinstance(entry, dict) or not entry:
            return here, "not a shape of the API"
        for key, value in entry.items():
            wrong = _fault_of_part(key, value, names)
            if wrong:
                return (*here, key), f"`{key}` {wrong}"
        missing = {"list": ["member"], "map": ["key", "value"]}.get(str(entry.get("type")), [])
        if name not in pinned and ("type" not in entry or any(part not in entry for part in missing)):
            return here, f"`{name}` is new, and its type is not complete"
        if not set(entry.get("required", ())) <= entry.get("members", {}).keys() and name not in pinned:
            return (*here, "required"), "`required` names what is not a member"
    return None


def _fault_of_part(key: str, value: object, names: set[str]) -> str:
    """Return what is wrong with a part of a shape; empty if nothing is."""
    if key not in _PARTS:
        return "is not a part of a shape"
    if key == "type":
        return "" if value in _KINDS else "is not a type of the API model"
    if key in ("min", "max"):
        is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST_DIGITS
        return "" if is_number else "is not a number"
    if key in ("enum", "required"):
        return "" if _are_words(value, _WORD if key == "enum" else _NAME) else "is not a list of words"
    references = value.values() if key == "members" and isinstance(value, dict) else [value]
    if key == "members" and not (isinstance(value, dict) and all(is_match(_NAME, name) for name in value)):
        return "is not an object with members"
    unknown = [name for name in references if not isinstance(name, str) or name not in names]
    return f"names the shape `{unknown[0]!s:.40}`, which does not exist" if unknown else ""


def _are_words(value: object, pattern: str) -> bool:
    return isinstance(value, list) and bool(value) and all(is_match(pattern, word) for word in value)
