"""How one layer of a spec changes another: RFC 7396, and the three places where a spec needs more than that.

``image``, ``entry_point`` and ``distribution`` are replaced whole when their kind changes. ``api`` is a merge patch
itself, on the payload, so what removes there has to arrive there.
"""

from __future__ import annotations

from smspec.source import Mapping, Node
from smspec.spec.layers.merging import Merge, combine_patches, is_null, merge_entries, merge_patch

_ENTRY_POINTS = ("script", "command", "module", "pipe_loop")


def layered(spec: Mapping | None, layer: Mapping) -> Mapping:
    """Return ``spec`` as ``layer`` changes it. Both are in their long form."""
    return merge_entries(spec, layer, _SPECIAL)


def _by_kind(kinds: tuple[str, ...]) -> Merge:
    """Return a merge that starts anew when the kinds differ. Without ``kinds`` every key names one."""

    def named(node: Node | None) -> set[str]:
        entries = node.entries if isinstance(node, Mapping) else ()
        return {key.text for key, value in entries if not is_null(value) and (not kinds or key.text in kinds)}

    def merge(target: Node | None, patch: Node) -> Node:
        kind = named(patch)
        return merge_patch(None if kind and kind != named(target) else target, patch)

    return merge


def _channel(target: Node | None, patch: Node) -> Node:
    return merge_entries(target, patch, {"api": combine_patches}) if isinstance(patch, Mapping) else patch


def _channels(target: Node | None, patch: Node) -> Node:
    return merge_entries(target, patch, {}, _channel) if isinstance(patch, Mapping) else patch


# An image's kinds are a string and a mapping, and RFC 7396 replaces the one by the other anyway.
_SPECIAL: dict[str, Merge] = {
    "entry_point": _by_kind(_ENTRY_POINTS),
    "distribution": _by_kind(()),
    "channels": _channels,
    "api": combine_patches,
}
