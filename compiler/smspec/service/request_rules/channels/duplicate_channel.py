"""Two channels of one name would share one directory."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, repeated
from smspec.service.request import Request

RULE = Rule("SM435", "duplicate channel", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject two channels with one name."""
    for index, name in repeated(items(request.payload, "InputDataConfig"), "ChannelName"):
        yield RULE.at(
            ("InputDataConfig", index, "ChannelName"),
            f"duplicate channel `{shown(name)}`",
            help="rename or remove one of them",
        )
