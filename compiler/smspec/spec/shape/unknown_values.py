"""Replace the unknown values of a document by values that the keys could have, or remove them."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.source import Document, Mapping, Node, Path, Scalar, Sequence
from smspec.source.frozen import replace
from smspec.spec.layers.short_forms import expanded
from smspec.spec.schema.keys import key_path
from smspec.spec.shape.samples import samples

_TEXTS: tuple[tuple[str, str | int | bool], ...] = (("a", "a"), ("other/b-1", "other/b-1"))
_SCALARS: tuple[tuple[str, str | int | bool], ...] = (*_TEXTS, ("7", 7), ("true", True))

_OF_ANY_TYPE = ("hyperparameters", "environment", "tags", "api")
_NAME_OF_A_GROUP = ("hosts", "groups", "*", "name")


def filled(document: Document, way: int) -> Document:
    """Return a document without unknown values; each ``way`` uses different values."""
    root = _filled(document, document.root, (), _tree(document.unknown), way)
    # The inserted value may be a short form.
    return replace(document, root=expanded(root) if isinstance(root, Mapping) else document.root, unknown=())


_Tree = dict["str | int", "_Tree"]


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
