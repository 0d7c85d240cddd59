"""Repair a document with faults of shape in several ways: a finding in all of them does not depend on the faults.

Each way removes the faulty members or replaces their values. What the rules then find is true of the valid parts of the
document if it does not depend on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from smspec.source import Document, Mapping, Node, Path, grafted, pruned
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers.short_forms import expanded, parts
from smspec.spec.schema import accepts, merged_schema, part
from smspec.spec.shape import viewed
from smspec.spec.shape.faulty_keys import kinds_of, required_of, suggestion
from smspec.spec.shape.schema_errors import is_request
from smspec.spec.shape.shape_faults import ShapeFault, shape_faults
from smspec.spec.shape.suppositions import filled, samples, with_a_base

WAYS = 6
WAYS_OF_A_PART = 16
"""A missing base spec has many more possible values than a fault."""

_MOST_ROUNDS = 8
MOST_FAULTS = 50
"""With more faults hardly any of the job is left, and every way would take its time."""

_OF_LAYERS = ("extends", "vars", "overlays")
"""Keys of files that a merged document does not have."""

_MOST_PARTS = 30_000
"""The limit for all ways and all overlays together: 1.5 seconds. A job of 100 parts is repaired with 40 overlays."""

_PARTS_OF_ANY_WAY = 25
"""The cost of a way for an empty job, in parts."""

_PARTS_AROUND_A_PART = 3
"""The number of parts that a supposed base spec adds for each part, channel by channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A repaired document; ``changed`` are the paths in it that are not the author's.

    ``start`` is what it was made from: the author's document with its unknown values filled in.
    """

    start: Document
    document: Document
    changed: frozenset[Path]

    def is_changed(self, path: Path) -> bool:
        """Return whether a path leads to or into something that is not the author's."""
        return any(path[:length] in self.changed for length in range(len(path) + 1))

    def touches(self, key: str) -> bool:
        """Return whether any part of a top-level key is not the author's."""
        return any(changed[:1] in ((), (key,)) for changed in self.changed)


def is_too_large(document: Document, variants: int) -> bool:
    """Return whether a document, one of ``variants`` of a job, is too large to be repaired in every way."""
    own = parts(document.root) * (_PARTS_AROUND_A_PART if document.is_partial else 1)
    return (own + _PARTS_OF_ANY_WAY) * _ways(document) * variants > _MOST_PARTS


def _ways(document: Document) -> int:
    return WAYS_OF_A_PART if document.is_partial else WAYS


def repairs(document: Document) -> Iterator[Repair]:
    """Yield the repairs of a document; none where hardly any of it is valid."""
    if () in document.unknown:
        return
    for way in range(_ways(document)):
        start = filled(document, way) if document.unknown else document
        if not way and not _is_nearly_a_job(viewed(start.root)):
            return
        start, supposed = with_a_base(start, way) if document.is_partial else (start, ())
        repair = _repaired(start, way, (*document.unknown, *supposed))
        if repair is not None:
            yield repair


def _is_nearly_a_job(data: object) -> bool:
    if is_request(data) or not isinstance(data, dict):
        return False
    return len(list(islice(shape_faults(data), MOST_FAULTS + 1))) <= MOST_FAULTS


def _repaired(start: Document, way: int, not_the_authors: tuple[Path, ...]) -> Repair | None:
    root = start.root
    schema = merged_schema()
    changed: list[Path] = [*not_the_authors]
    for turn in range(_MOST_ROUNDS):
        data = viewed(root)
        if accepts(schema, data, schema):
            return Repair(start=start, document=replace(start, root=root), changed=frozenset(changed))
        faults = sorted(shape_faults(data), key=lambda fault: fault.keyword != "additionalProperties")
        # A misspelled key is why another key is missing: repair it first, then check again.
        if faults[0].keyword == "additionalProperties":
            faults = [fault for fault in faults if fault.keyword == "additionalProperties"]
        done: set[Path] = set()
        for fault in faults:
            if any(fault.path[: len(path)] == path for path in done):
                continue
            for path, node in _edits(root, fault, way, turn):
                done.add(path)
                changed.append(path)
                root = pruned(root, path) if node is None else grafted(root, path, node)
        if isinstance(root, Mapping):
            root = expanded(root)
    return None


def _edits(root: Node, fault: ShapeFault, way: int, turn: int) -> Iterator[tuple[Path, Node | None]]:
    """Yield the replacements for the part with the fault; None: remove it."""
    path = fault.path
    if fault.keyword == "additionalProperties":
        yield from _unknown_keys(root, fault, way)
    elif fault.keyword == "required":
        for key in required_of(fault.schema):
            if key not in fault.names:
                yield from _sampled(root, (*path, key), way, may_go=False)
    elif fault.keyword == "dependencies":
        for key, needed in part(fault.schema, "dependencies").items():
            if key in fault.names and isinstance(needed, list) and not set(map(str, needed)) & set(fault.names):
                yield (*path, key), None
    elif fault.keyword in ("oneOf", "anyOf", "not") and turn < _MOST_ROUNDS // 2:
        yield from _kinds(root, fault, way)
    elif fault.on == "key":
        yield path, None
    elif turn < 3:
        yield from _sampled(root, path, way, may_go=True)
    else:
        # Neither a sample nor a removal works here: remove the part that contains it.
        parent = path[: max(len(path) - turn + 2, 1)]
        if parent:
            yield parent, None


def _unknown_keys(root: Node, fault: ShapeFault, way: int) -> Iterator[tuple[Path, Node | None]]:
    known = part(fault.schema, "properties")
    for word in fault.names:
        if word in known:
            continue
        yield (*fault.path, word), None
        guess = suggestion(word, fault.path)
        name = guess.key[-1] if guess else ""
        if name in known and name not in fault.names and (fault.path or name not in _OF_LAYERS):
            # Every way treats the intended key as changed: with the written value, and without.
            value = Document(root, ()).node((*fault.path, word)) if way % 2 else None
            yield (*fault.path, name), value


def _kinds(root: Node, fault: ShapeFault, way: int) -> Iterator[tuple[Path, Node | None]]:
    """Keep one of several kinds, or insert one where there is none."""
    if not isinstance(fault.value, dict):
        yield from _sampled(root, fault.path, way, may_go=True)
        return
    kinds = required_of(fault.argument) if fault.keyword == "not" else kinds_of(fault.argument)
    written = [key for key in fault.names if key in kinds]
    if not written and kinds:
        yield from _sampled(root, (*fault.path, kinds[way % len(kinds)]), way, may_go=False)
    for number, key in enumerate(written):
        if number != way % len(written):
            yield (*fault.path, key), None
    if written or not kinds:
        yield fault.path, Document(root, ()).node(fault.path)


def _sampled(root: Node, path: Path, way: int, *, may_go: bool) -> Iterator[tuple[Path, Node | None]]:
    """Put one of the samples of a key at ``path``, or remove it in some ways; a list that allows neither is removed."""
    found = samples(path, Document(root, ()).span_of_value(path))
    is_item = bool(path) and isinstance(path[-1], int)
    choices: tuple[Node | None, ...] = (*found, None) if may_go and not is_item else found
    if choices:
        yield path, choices[way % len(choices)]
    elif is_item:
        yield path[:-1], None
    elif may_go:
        yield path, None
