"""The alternatives of `hosts.any_of`: for each a spec without that key, as if its author had written it alone."""

from __future__ import annotations

from smspec.source import Document, Mapping, Node, Path, Scalar, Sequence
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers.merging import is_null, merge_patch

ANY_OF: Path = ("hosts", "any_of")
_OF_HOSTS = ("instance_type", "count", "volume")


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
