"""Replacements for the base specs of a job that could not be read: each way different, and none with a fault."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from smspec.source import Document, Mapping, Node, Path, Scalar
from smspec.source.frozen import replace
from smspec.source.node import pruned
from smspec.spec.layers.layering import layered
from smspec.spec.layers.short_forms import expanded
from smspec.spec.schema.keys import key_path, keys_in, spec_keys
from smspec.spec.shape.plain_data import viewed
from smspec.spec.shape.samples import samples
from smspec.spec.shape.shape_faults import shape_faults

_OF_FILES = ("smspec", "name", "extends", "vars", "overlays")
_OFTEN = 0.7
_MOST_ROUNDS = 4


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
