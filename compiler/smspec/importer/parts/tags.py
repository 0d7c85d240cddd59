"""Import `tags`, in the order of the request."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.importer.marks import holds_mark
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.service.members import repeated

_TAG = {"Key", "Value"}


def keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the tags if their keys are unique."""
    listed = rest.members.get("Tags")
    if isinstance(listed, list) and any(True for _ in repeated(listed, "Key")):
        return
    tags = rest.structures(_is_tag, "Tags")
    if tags:
        yield "tags", {str(tag["Key"]): tag["Value"] for tag in tags}


def _is_tag(value: dict[str, object]) -> bool:
    is_plain = value.keys() == _TAG and all(isinstance(text, str) for text in value.values())
    return is_plain and not holds_mark(str(value["Key"]))  # a key of a spec contains no variable
