"""A tag has one value."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items, member
from smspec.service.wording import shown

RULE = Rule("SM429", "repeated tag")


def check(request: dict[str, object]) -> Iterator[Finding]:
    """Refuse two tags with one key."""
    seen: set[str] = set()
    for index, tag in enumerate(items(request, "Tags")):
        key = member(tag, "Key")
        if isinstance(key, str):
            if key in seen:
                yield RULE.at(("Tags", index, "Key"), f"tag `{shown(key)}` is given twice")
            seen.add(key)
