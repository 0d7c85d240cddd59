"""The merge key ``<<``: it adds entries of other mappings that the mapping itself does not have."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Rule
from smspec.diagnostics.diagnostic import ParseErrors
from smspec.source import Mapping, Node, Scalar, Sequence, Span
from smspec.source.frozen import replace

MERGE_OF_NO_MAPPING = Rule("SM111", "merge key without a mapping")


def is_merge_key(key: Scalar) -> bool:
    """Return whether a key is the merge key; ``"<<"`` in quotes is an ordinary key."""
    return key.plain and key.text == "<<" and key.used_at is None


def spread(entries: list[tuple[Scalar, Node]], faults: ParseErrors) -> list[tuple[Scalar, Node]]:
    """Return the entries with those of every ``<<`` in its place.

    Written keys win over merged ones; of several mappings, the first that has the key wins.
    """
    taken = {key.text for key, _ in entries if not is_merge_key(key)}
    spread_entries: list[tuple[Scalar, Node]] = []
    for key, value in entries:
        if not is_merge_key(key):
            spread_entries.append((key, value))
            continue
        for mapping, used_at in _mappings(value, faults):
            for name, merged in mapping.entries:
                if name.text not in taken:
                    taken.add(name.text)
                    through = merged if merged.used_at or not used_at else replace(merged, used_at=used_at)
                    spread_entries.append((name, through))
    return spread_entries


def _mappings(value: Node, faults: ParseErrors) -> Iterator[tuple[Mapping, Span | None]]:
    for item in value.items if isinstance(value, Sequence) else (value,):
        used_at = item.used_at or value.used_at
        if isinstance(item, Mapping):
            yield item, used_at
        else:
            faults.add(
                MERGE_OF_NO_MAPPING,
                used_at or item.span,
                "`<<` can merge only mappings",
                help="use `<<: *name`, where `&name` marks a mapping, or a list of such aliases",
            )
