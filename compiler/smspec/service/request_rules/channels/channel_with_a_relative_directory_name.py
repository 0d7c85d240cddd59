"""A channel is a directory below /opt/ml/input/data, and two names that the API accepts are other directories."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM484", "channel with a relative directory name", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject `.` and `..` as channel names."""
    for channel in request.channels:
        if channel.name in (".", ".."):
            is_there = "/opt/ml/input/data itself" if channel.name == "." else "/opt/ml/input"
            yield RULE.at(
                (*channel.path, "ChannelName"),
                f"{HERE} cannot be `{channel.name}`: its directory is {is_there}",
                help="rename the channel, for example to `train`",
            )
