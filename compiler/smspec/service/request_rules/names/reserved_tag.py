"""Tags that start with aws: are reserved for AWS."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, member
from smspec.service.request import Request

RULE = Rule("SM476", "reserved tag", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a tag whose key starts with aws:."""
    for index, tag in enumerate(items(request.payload, "Tags")):
        key = member(tag, "Key")
        if isinstance(key, str) and key.lower().startswith("aws:"):
            yield RULE.at(
                ("Tags", index, "Key"),
                f"tag `{shown(key)}` begins with `aws:`, which AWS reserves",
                help="use a different prefix",
            )
