"""Merge trees as RFC 7396 merges JSON: mappings merge, everything else replaces, null removes.

Every part of the result keeps its position in the text that contributed it. A mapping from several texts, and a key,
have the position in the last of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from smspec.source import Mapping, Node, Scalar

if TYPE_CHECKING:
    from typing import TypeGuard

Merge = Callable[["Node | None", Node], Node]


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
