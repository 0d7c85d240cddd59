"""A null that removes nothing: often a value was forgotten, or it comes after a `#` without quotes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source import Document, Path, dotted
from smspec.source.frozen import replace
from smspec.spec.layers.idle_nulls import is_patch

NULL_THAT_REMOVES_NOTHING = Rule("SM216", "null without effect", "warning")


def nulls_that_remove_nothing(document: Document, patched: Collection[Path]) -> Iterator[Finding]:
    """Yield each null of the layers that removes nothing; ``patched``: those of `api` that find no such member."""
    for path, place in document.idle:
        if not is_patch(path) or path in patched:
            found = NULL_THAT_REMOVES_NOTHING.at(
                path,
                f"`{dotted(path)}` has no effect: it is null, and no layer below sets it",
                help="add a value, in quotes if it starts with `#`, or remove the key",
            )
            yield replace(found, place=place)
