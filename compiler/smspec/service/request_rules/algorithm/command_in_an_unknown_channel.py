"""Files that the command reads below /opt/ml/input/data must come from a channel."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.service.command_channels import channel_words
from smspec.service.member_names import shown
from smspec.service.members import member
from smspec.service.request import Request

RULE = Rule("SM439", "command in an unknown channel", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject words of ContainerEntrypoint and ContainerArguments that are paths in a channel which the job lacks."""
    listed = request.payload.get("InputDataConfig", [])
    if not isinstance(listed, list):
        return
    names = [member(channel, "ChannelName") for channel in listed]
    known = [name for name in names if isinstance(name, str)]
    if len(known) < len(names):
        return
    for word in channel_words(request):
        if not any(word.leads_to(name) for name in known):
            near = nearest(word.channel, known)
            yield RULE.at(
                word.path,
                f"{HERE} uses channel `{shown(word.channel)}`, which the job does not have",
                help=f"use `/opt/ml/input/data/{shown(near)}/`, or add the channel"
                if near
                else "add the channel, or fix the path",
            )
