"""Repair a document with faults of shape in several ways: a finding in all of them does not depend on the faults.

Each way removes the faulty members or replaces their values. What the rules then find is true of the valid parts of the
document if it does not depend on the way. Sample values of keys are the examples of the schema, and more where rules
depend on the value. Each way to replace an unknown value, or a base spec that could not be read, is different, and none
has a fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

from smspec.source import Document, Mapping, Node, Path, Scalar, Sequence, Span, grafted, pruned
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers.merging import layered
from smspec.spec.layers.short_forms import expanded, parts
from smspec.spec.schema import accepts, choices, key_path, keys_in, merged_schema, part, spec_keys, written_key
from smspec.spec.shape import viewed
from smspec.spec.shape.faulty_keys import kinds_of, required_of, suggestion
from smspec.spec.shape.schema_errors import is_request
from smspec.spec.shape.shape_faults import ShapeFault, shape_faults

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


# Values far apart, so that no rule has the same result for all of them.
_FAR_APART: dict[str, tuple[object, ...]] = {
    "name": ("one", "another-job"),
    "role": ("arn:aws-cn:iam::222233334444:role/one", "arn:aws-us-gov:iam::333344445555:role/another"),
    "region": ("cn-north-1", "us-gov-west-1"),
    "account": ("222233334444", "333344445555"),
    "image.base": ("debian:12", "registry.example.com/team/base:1"),
    "hosts": ({"groups": [{"name": "a", "instance_type": "ml.p4d.24xlarge", "count": 3}]},),
    "hosts.instance_type": ("ml.m5.large", "ml.g5.48xlarge", "ml.trn1.32xlarge"),
    "hosts.count": (1, 2, 40),
    "hosts.volume": (1, 900),
    "hosts.groups.*.instance_type": ("ml.m5.large", "ml.g5.48xlarge", "ml.trn1.32xlarge"),
    "hosts.groups.*.count": (1, 2, 40),
    "entry_point": ({"command": ["./one"]},),
    "output": ("s3://one-bucket/a/", "s3://another-bucket/b/"),
    "output.s3": ("s3://one-bucket/a/", "s3://another-bucket/b/"),
    "channels.*": ("s3://one-bucket/c/", "s3://another-bucket/d/"),
    "channels.*.s3": ("s3://one-bucket/c/", "s3://another-bucket/d/"),
    "checkpoints.s3": ("s3://one-bucket/e/", "s3://another-bucket/f/"),
    "stopping.max_runtime": ("60s", "27d"),
    "spot.max_wait": ("60s", "28d"),
    "network.isolation": (True, False),
    "network.encrypt_inter_container": (True, False),
}

_TEXTS: tuple[tuple[str, str | int | bool], ...] = (("a", "a"), ("other/b-1", "other/b-1"))
_SCALARS: tuple[tuple[str, str | int | bool], ...] = (*_TEXTS, ("7", 7), ("true", True))

_OF_ANY_TYPE = ("hyperparameters", "environment", "tags", "api")
_NAME_OF_A_GROUP = ("hosts", "groups", "*", "name")

_Tree = dict["str | int", "_Tree"]

_OF_FILES = ("smspec", "name", "extends", "vars", "overlays")
_OFTEN = 0.7
_MOST_BASES = 4


def samples(path: Path, span: Span) -> tuple[Node, ...]:
    """Return valid values for the key at ``path``, with the position ``span``; none for an unknown key."""
    key = key_path(path)
    if not key:
        return ()
    schema = spec_keys()[key]
    examples = schema.get("examples")
    known = (*(examples if isinstance(examples, list) else ()), *choices(schema))
    return tuple(_node(value, span) for value in (*known, *_FAR_APART.get(written_key(key), ())))


def _node(value: object, span: Span) -> Node:
    if isinstance(value, dict):
        return Mapping(tuple((Scalar(key, key, True, span), _node(item, span)) for key, item in value.items()), span)
    if isinstance(value, list):
        return Sequence(tuple(_node(item, span) for item in value), span)
    text = value if isinstance(value, str) else str(value).lower()
    assert value is None or isinstance(value, str | bool | int | float)
    return Scalar(text, value, not isinstance(value, str), span)


def filled(document: Document, way: int) -> Document:
    """Return a document without unknown values; each ``way`` uses different values."""
    root = _filled(document, document.root, (), _tree(document.unknown), way)
    # The inserted value may be a short form.
    return replace(document, root=expanded(root) if isinstance(root, Mapping) else document.root, unknown=())


def _tree(paths: tuple[Path, ...]) -> _Tree:
    tree: _Tree = {}
    for path in paths:
        below = tree
        for step in path:
            below = below.setdefault(step, {})
    return tree


def _filled(document: Document, node: Node, path: Path, unknown: _Tree, way: int) -> Node | None:
    """Return a part without unknown values; None: omit the part."""
    if not unknown:
        return _value(document, node, path, way)
    if isinstance(node, Sequence):
        items = (
            _filled(document, item, (*path, index), unknown[index], way) if index in unknown else item
            for index, item in enumerate(node.items)
        )
        return replace(node, items=tuple(item for item in items if item is not None))
    if not isinstance(node, Mapping):
        return node
    entries: list[tuple[Scalar, Node]] = []
    for key, value in node.entries:
        below = unknown.get(key.text)
        new = value if below is None else _filled(document, value, (*path, key.text), below, way)
        if new is not None:
            entries.append((key, new))
    return replace(node, entries=tuple(entries))


def _value(document: Document, node: Node, path: Path, way: int) -> Node | None:
    choices: list[Node | None] = [*samples(path, node.span), *_referred(document, path, node)]
    if not choices and isinstance(node, Scalar):
        free = path[0] in _OF_ANY_TYPE or (path[0] == "channels" and "api" in path)
        choices += [replace(node, text=text, value=value) for text, value in (_SCALARS if free else _TEXTS)]
    if not isinstance(path[-1], int):
        choices.append(None)  # a variable may be null, which removes a key
    return choices[way % len(choices)] if choices else None


def _referred(document: Document, path: Path, node: Node) -> Iterator[Node]:
    """Yield the names by which other keys refer to the name at ``path``."""
    if key_path(path) != _NAME_OF_A_GROUP:
        return
    channels = document.node(("channels",))
    for _, channel in channels.entries if isinstance(channels, Mapping) else ():
        named = channel.get("instance_groups") if isinstance(channel, Mapping) else None
        for item in named.items if isinstance(named, Sequence) else ():
            yield replace(item, span=node.span)


def with_a_base(document: Document, way: int) -> tuple[Document, tuple[Path, ...]]:
    """Return a partial document merged with a possible base spec, and the paths that are not the document's own."""
    own = document.root
    if not isinstance(own, Mapping):
        return document, ()
    # The first has no base spec at all. The seed is fixed, so every run has the same result.
    base: Mapping = expanded(_complement(own, (), Random(way))) if way else replace(own, entries=())
    root = layered(base, own)
    faults = {(fault.path, fault.keyword) for fault in shape_faults(viewed(layered(None, own)))}
    for _ in range(_MOST_BASES):
        mine = tuple(_added(root, own, ()))
        new = {f.path for f in shape_faults(viewed(root)) if (f.path, f.keyword) not in faults and f.path}
        wrong = [path for path in mine if any(path[: len(at)] == at or at[: len(path)] == path for at in new)]
        if not wrong:
            break
        for path in wrong:
            base = _mapping(pruned(base, path))
        root = layered(base, own)
    return replace(document, root=root, is_partial=False), tuple(_added(root, own, ()))


def _mapping(node: Node) -> Mapping:
    assert isinstance(node, Mapping)
    return node


def _complement(own: Mapping, path: Path, chance: Random) -> Mapping:
    """Return a possible base spec for ``path``: what the job does not have there, and more inside what it has."""
    entries: list[tuple[Scalar, Node]] = []
    key = key_path(path) or ()
    named = dict.fromkeys(keys_in(key))
    if (*key, "*") in spec_keys() or not named:
        named.update(dict.fromkeys(name.text for name, _ in own.entries))
        entries += _of_other_names(own, path, chance)
    for name in named:
        here = (*path, name)
        value = own.get(name)
        if name in _OF_FILES and not path:
            continue
        if isinstance(value, Mapping):
            below = _complement(value, here, chance)
            entries.append((Scalar(name, name, True, own.span), below))
        elif (choices := samples(here, own.span)) and (value is not None or chance.random() < _OFTEN):
            entries.append((Scalar(name, name, True, own.span), chance.choice(choices)))
    return replace(own, entries=tuple(entries))


def _of_other_names(own: Mapping, path: Path, chance: Random) -> Iterator[tuple[Scalar, Node]]:
    """Yield entries with names that the job does not use, for a mapping whose names the author chooses."""
    for sample in samples(path, own.span):
        for key, value in sample.entries if isinstance(sample, Mapping) else ():
            if own.get(key.text) is None and chance.random() < _OFTEN:
                yield key, value


def _added(root: Mapping, own: Mapping, path: Path) -> Iterator[Path]:
    """Yield the paths in ``root`` that are not in ``own``."""
    for key, value in root.entries:
        mine = own.get(key.text)
        here = (*path, key.text)
        if mine is None:
            yield here
        elif isinstance(value, Mapping) and isinstance(mine, Mapping):
            yield from _added(value, mine, here)
