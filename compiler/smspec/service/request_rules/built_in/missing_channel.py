"""A built-in algorithm fails without the channels that it requires, and their names are fixed."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.built_in_channels import meant_channels, missing_channels
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM492", "missing channel of a built-in algorithm", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject a request without a required channel, at a channel that is probably meant as that."""
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    missing = missing_channels(request, algorithm)
    meant = meant_channels(request, algorithm)
    for channel, name in meant:
        if name in missing:
            yield RULE.at(
                (*channel.path, "ChannelName"),
                f"`{algorithm.name}` requires a channel `{name}`; it does not read `{shown(channel.name)}`",
                label=f"did you mean `{name}`?",
                on="key",
            )
    for name in missing:
        if name not in {name for _, name in meant}:
            yield RULE.at(
                ("InputDataConfig",),
                f"`{request.word('InputDataConfig', 'channels')}` has no `{name}`, which `{algorithm.name}` requires",
                help=f"add a channel `{name}`",
                on="key",
            )
