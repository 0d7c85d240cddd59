"""Two channels of one name would share one directory."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items, member
from smspec.service.wording import shown

RULE = Rule("SM435", "repeated channel")


def check(request: dict[str, object]) -> Iterator[Finding]:
    """Refuse two channels with one name."""
    seen: set[str] = set()
    for index, channel in enumerate(items(request, "InputDataConfig")):
        name = member(channel, "ChannelName")
        if isinstance(name, str):
            if name in seen:
                yield RULE.at(("InputDataConfig", index, "ChannelName"), f"channel `{shown(name)}` is given twice")
            seen.add(name)
