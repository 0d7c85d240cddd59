"""How one layer of a spec changes another: RFC 7396, with three exceptions.

``image``, ``entry_point``, and ``distribution`` are replaced as a whole when their kind changes. ``api`` is itself a
merge patch on the request, so its nulls must be kept until then.
"""

from __future__ import annotations

from smspec.source import Mapping, Node
from smspec.spec.layers.merging import Merge, combine_patches, has_to_merge, is_null, merge_entries, merge_patch

_ENTRY_POINTS = ("script", "command", "module", "pipe_loop")


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
