"""A tag has one value."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, repeated
from smspec.service.request import Request

RULE = Rule("SM429", "duplicate tag", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject two tags with one key."""
    for index, key in repeated(items(request.payload, "Tags"), "Key"):
        yield RULE.at(("Tags", index, "Key"), f"duplicate tag `{shown(key)}`", help="remove one of them")
