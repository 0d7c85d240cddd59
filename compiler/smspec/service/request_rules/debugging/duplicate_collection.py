"""A collection of tensors has one configuration."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, repeated
from smspec.service.request import Request

RULE = Rule("SM473", "duplicate collection", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject two collections with one name."""
    here = ("DebugHookConfig", "CollectionConfigurations")
    for index, name in repeated(items(request.payload, *here), "CollectionName"):
        yield RULE.at(
            (*here, index, "CollectionName"), f"duplicate collection `{shown(name)}`", help="merge the two collections"
        )
