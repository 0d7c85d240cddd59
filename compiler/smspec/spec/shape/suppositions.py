"""Values and base specs in the place of those that smspec does not know, so that the rest of a spec can be checked.

Sample values of keys are the examples of the schema, and more where rules depend on the value. Each way to replace an
unknown value, or a base spec that could not be read, is different, and none has a fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from smspec.source import Document, Mapping, Node, Path, Scalar, Sequence, Span, pruned
from smspec.source.frozen import replace
from smspec.spec.layers.merging import layered
from smspec.spec.layers.short_forms import expanded
from smspec.spec.schema import choices, key_path, keys_in, spec_keys, written_key
from smspec.spec.shape import viewed
from smspec.spec.shape.shape_faults import shape_faults

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
_MOST_ROUNDS = 4


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
    for _ in range(_MOST_ROUNDS):
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
