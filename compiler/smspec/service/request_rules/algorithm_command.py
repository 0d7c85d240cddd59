"""AlgorithmSpecification: the command, where it is in a channel."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.service.command_channels import channel_words, program_words
from smspec.service.member_names import shown
from smspec.service.members import member
from smspec.service.request import Request, RequestedChannel

COMMAND_IN_AN_UNKNOWN_CHANNEL = Rule(
    "SM439", "command in an unknown channel", evidence="devguide", needs_every_layer=True
)


def command_in_an_unknown_channel(request: Request) -> Iterator[Finding]:
    """Reject words of ContainerEntrypoint and ContainerArguments that are paths in a channel which the job lacks.

    Files that the command reads below /opt/ml/input/data must come from a channel.
    """
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
            yield COMMAND_IN_AN_UNKNOWN_CHANNEL.at(
                word.path,
                f"{HERE} uses channel `{shown(word.channel)}`, which the job does not have",
                help=f"use `/opt/ml/input/data/{shown(near)}/`, or add the channel"
                if near
                else "add the channel, or fix the path",
            )


ENTRYPOINT_CHANNEL_WITHOUT_FILE_MODE = Rule(
    "SM440", "entrypoint channel without File mode", evidence="devguide", needs_every_layer=True
)


def entrypoint_channel_without_file_mode(request: Request) -> Iterator[Finding]:
    """Reject a program in a channel that is streamed.

    A program is started from a disk, so its channel must be copied there.
    """
    for channel in _with_the_program(request):
        if channel.mode in ("Pipe", "FastFile"):
            mode = request.word("InputMode", "input_mode")
            yield ENTRYPOINT_CHANNEL_WITHOUT_FILE_MODE.at(
                channel.mode_path,
                f"{HERE} is {channel.mode}, but {channel.label} contains the entrypoint",
                help=f"set `{mode}: File` for the channel",
            )


def _with_the_program(request: Request) -> Iterator[RequestedChannel]:
    for word in program_words(request):
        yield from (channel for channel in request.channels if channel.name == word.channel)


SHARDED_ENTRYPOINT_CHANNEL = Rule("SM441", "sharded entrypoint channel", evidence="devguide")


def sharded_entrypoint_channel(request: Request) -> Iterator[Finding]:
    """Reject a program in a channel that is sharded across hosts.

    Every host starts the program, so every host needs it.
    """
    for channel in _with_the_program(request):
        if channel.s3.get("S3DataDistributionType") == "ShardedByS3Key":
            yield SHARDED_ENTRYPOINT_CHANNEL.at(
                (*channel.s3_path, "S3DataDistributionType"),
                f"{HERE} is ShardedByS3Key, but {channel.label} contains the entrypoint",
                help="use FullyReplicated: every host needs the script",
            )


RULES = {
    command_in_an_unknown_channel: (),
    entrypoint_channel_without_file_mode: (),
    sharded_entrypoint_channel: (),
}
