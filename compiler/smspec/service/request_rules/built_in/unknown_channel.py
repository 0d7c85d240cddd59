"""A built-in algorithm ignores a channel whose name it does not know."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.built_in_channels import meant_channels, missing_channels
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM395", "unknown channel of a built-in algorithm", "warning", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a channel whose name is near that of an optional one; SM492 is about the required ones."""
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    missing = missing_channels(request, algorithm)
    for channel, name in meant_channels(request, algorithm):
        if name not in missing:
            yield RULE.at(
                (*channel.path, "ChannelName"),
                f"channel `{shown(channel.name)}` might have no effect: `{algorithm.name}` reads `{name}`",
                label=f"did you mean `{name}`?",
                on="key",
            )
