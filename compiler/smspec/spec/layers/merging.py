"""Merge trees as RFC 7396 merges JSON: mappings merge, everything else replaces, null removes.

Every part of the result keeps its position in the text that contributed it. A mapping from several texts, and a key,
have the position in the last of them.

A layer of a spec has three exceptions: ``image``, ``entry_point``, and ``distribution`` are replaced as a whole when
their kind changes. ``api`` is itself a merge patch on the request, so its nulls must be kept until then. The nulls of a
layer that remove nothing are remembered. An alternative of `hosts.any_of` is a merge, too: of one item of the list into
the spec without that key, as if its author had written it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from smspec.source import Document, Mapping, Node, Null, Path, Scalar, Sequence, Span
from smspec.source.frozen import dataclass, replace

if TYPE_CHECKING:
    from typing import TypeGuard

Merge = Callable[["Node | None", Node], Node]

_ENTRY_POINTS = ("script", "command", "module", "pipe_loop")

# Their nulls inside lists are JSON values, and are sent.
_JSON = ("hyperparameters", "api")

ANY_OF: Path = ("hosts", "any_of")
_OF_HOSTS = ("instance_type", "count", "volume")


def merge_patch(target: Node | None, patch: Node) -> Node:
    """Return ``target`` with ``patch`` applied, RFC 7396 section 2. None is a missing target."""
    return merge_entries(target, patch, {}) if has_to_merge(patch, target) else patch


def combine_patches(first: Node | None, second: Node) -> Node:
    """Return the patch that does what ``first`` and then ``second`` do: a null in it still removes."""
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return second
    changes = {key.text: (key, value) for key, value in second.entries}
    entries: list[tuple[Scalar, Node]] = []
    for key, value in first.entries:
        change = changes.pop(key.text, None)
        entries.append((change[0], combine_patches(value, change[1])) if change else (key, value))
    return Mapping((*entries, *changes.values()), second.span, second.used_at)


def has_to_merge(patch: Node, target: Node | None) -> TypeGuard[Mapping]:
    """Return whether the result differs from the patch: both are mappings, or there are nulls in the patch."""
    return isinstance(patch, Mapping) and (isinstance(target, Mapping) or _removes(patch))


def _removes(patch: Mapping) -> bool:
    """Return whether there is a null in a patch, at any depth; in a list it is a value."""
    for _, value in patch.entries:
        if isinstance(value, Mapping):
            if _removes(value):
                return True
        elif isinstance(value, Scalar) and value.value is None:
            return True
    return False


def merge_entries(
    target: Node | None, patch: Mapping, special: dict[str, Merge], other: Merge = merge_patch
) -> Mapping:
    """Merge the entries of two mappings, each with the merge for its key in ``special``, else with ``other``.

    Keys of the target come first, in its order, then the new ones in theirs.
    """
    changes = {key.text: (key, value) for key, value in patch.entries}
    entries: list[tuple[Scalar, Node]] = []
    for key, value in target.entries if isinstance(target, Mapping) else ():
        change = changes.pop(key.text, None)
        if change is None:
            entries.append((key, value))
        elif not is_null(change[1]):
            entries.append((change[0], special.get(key.text, other)(value, change[1])))
    for key, value in changes.values():
        if not is_null(value):
            entries.append((key, special.get(key.text, other)(None, value)))
    return Mapping(tuple(entries), patch.span, patch.used_at)


def is_null(node: Node) -> bool:
    """Return whether a value removes its key."""
    return isinstance(node, Scalar) and node.value is None


def layered(spec: Mapping | None, layer: Mapping) -> Mapping:
    """Return ``spec`` with the changes of ``layer``. Both are in their long form."""
    return merge_entries(spec, layer, _SPECIAL)


def _by_kind(kinds: tuple[str, ...]) -> Merge:
    """Return a merge that replaces the target when the kinds differ. Without ``kinds``, every key is a kind."""

    def named(node: Node | None) -> set[str]:
        entries = node.entries if isinstance(node, Mapping) else ()
        return {key.text for key, value in entries if not is_null(value) and (not kinds or key.text in kinds)}

    def merge(target: Node | None, patch: Node) -> Node:
        kind = named(patch)
        return merge_patch(None if kind and kind != named(target) else target, patch)

    return merge


def _channel(target: Node | None, patch: Node) -> Node:
    return merge_entries(target, patch, {"api": combine_patches}) if has_to_merge(patch, target) else patch


def _channels(target: Node | None, patch: Node) -> Node:
    return merge_entries(target, patch, {}, _channel) if has_to_merge(patch, target) else patch


# The kinds of an image are a string and a mapping, and RFC 7396 replaces one by the other anyway.
_SPECIAL: dict[str, Merge] = {
    "entry_point": _by_kind(_ENTRY_POINTS),
    "distribution": _by_kind(()),
    "channels": _channels,
    "api": combine_patches,
}


def nulls_of(spec: Mapping | None, layer: Mapping) -> Iterator[Null]:
    """Yield each null in ``layer``, which is about to be merged with ``spec``.

    Both are in their long form. A null in `api` may still remove a member of the request.
    """
    for key, value in layer.entries:
        if _has_null(value):  # few have one
            beneath = spec.get(key.text) if spec is not None else None
            yield from _nulls(beneath, value, (key.text,), key.span)


def _has_null(node: Node) -> bool:
    if isinstance(node, Scalar):
        return node.value is None
    parts = node.items if isinstance(node, Sequence) else [value for _, value in node.entries]
    for part in parts:  # noqa: SIM110
        if part.value is None if isinstance(part, Scalar) else _has_null(part):
            return True
    return False


def _nulls(beneath: Node | None, value: Node, path: Path, place: Span) -> Iterator[Null]:
    if is_null(value):
        yield Null(path=path, place=place, is_idle=beneath is None or is_null(beneath))
    elif isinstance(value, Mapping):
        for key, inner in value.entries:
            below = beneath.get(key.text) if isinstance(beneath, Mapping) else None
            yield from _nulls(below, inner, (*path, key.text), key.span)
    elif isinstance(value, Sequence) and not is_json(path):
        for index, item in enumerate(value.items):
            if isinstance(item, Mapping):
                yield from _nulls(None, item, (*path, index), item.span)


def is_json(path: Path) -> bool:
    """Return whether a path leads into values that are sent unchanged."""
    return path[0] in _JSON or is_patch(path)


def is_patch(path: Path) -> bool:
    """Return whether a path leads into a patch on the request, whose nulls remove members of the request."""
    return path[0] == "api" or (path[0] == "channels" and path[2:3] == ("api",))


@dataclass(frozen=True, slots=True)
class Alternative:
    """``document`` is the spec of the alternative at ``index`` of the list; ``item`` is what its author wrote there."""

    index: int
    document: Document
    item: Mapping

    @property
    def path(self) -> Path:
        return (*ANY_OF, self.index)

    def written(self, path: Path) -> Path:
        """Return where the author wrote, or would add, what the alternative has at ``path``."""
        if path[:1] == ("spot",) and self.item.get("spot") is not None:
            return (*self.path, *path)
        if path[:1] != ("hosts",) or len(path) == 1 or path[1] not in _OF_HOSTS:
            return path
        key = str(path[1])
        hosts = self.document.node(("hosts",))
        is_shared = self.item.get(key) is None and isinstance(hosts, Mapping) and hosts.get(key) is not None
        return path if is_shared else (*self.path, *path[1:])


def alternatives(document: Document) -> tuple[Alternative, ...]:
    """Return the alternatives of a merged spec in their order; none if it has one set of hosts.

    The shape of the spec need not have been checked; an item that is not a mapping is skipped.
    """
    listed = document.node(ANY_OF)
    items = listed.items if isinstance(listed, Sequence) else ()
    return tuple(
        Alternative(index, _alone(document, item), item)
        for index, item in enumerate(items)
        if isinstance(item, Mapping)
    )


def most_alternatives(node: Node | None) -> int:
    """Return the number of alternatives that a spec or an overlay lists, at least 1."""
    listed = node
    for step in ANY_OF:
        listed = listed.get(str(step)) if isinstance(listed, Mapping) else None
    return max(1, len(listed.items)) if isinstance(listed, Sequence) else 1


def _alone(document: Document, item: Mapping) -> Document:
    root = document.root
    assert isinstance(root, Mapping)
    own = replace(item, entries=tuple(entry for entry in item.entries if entry[0].text != "spot"))
    entries: list[tuple[Scalar, Node]] = []
    for key, value in root.entries:
        if key.text == "hosts" and isinstance(value, Mapping):
            rest = replace(value, entries=tuple(entry for entry in value.entries if entry[0].text != "any_of"))
            entries.append((key, replace(merge_patch(rest, own), span=value.span)))
        else:
            entries.append((key, value))
    spot = next((entry for entry in item.entries if entry[0].text == "spot" and not is_null(entry[1])), None)
    if spot is not None:
        beneath = root.get("spot")
        entries = [entry for entry in entries if entry[0].text != "spot"]
        entries.append((spot[0], merge_patch(beneath, spot[1])))
    return replace(document, root=replace(root, entries=tuple(entries)))
