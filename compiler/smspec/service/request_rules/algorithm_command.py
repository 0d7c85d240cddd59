"""AlgorithmSpecification: the words of the command that are paths in channels, and which of them is the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.service.patterns import shown
from smspec.service.request import Request, RequestedChannel
from smspec.service.shapes import items, member
from smspec.source import Path
from smspec.source.frozen import dataclass

# Patterns are strings, compiled only when a request needs them.
_IN_CHANNEL = r"/opt/ml/input/data/(?P<channel>[A-Za-z0-9._-]+)"
_WHOLE_WORD = rf"(?s)(?:--?[A-Za-z][A-Za-z0-9_-]*=)?{_IN_CHANNEL}(?:/.*)?"
_PROGRAM = rf"(?s){_IN_CHANNEL}/.+"
_SUFFIX = r"\S+\.(?:py|sh|bash|R|r|jl|pl|js|jar)"
_INTERPRETER = r"(?:\S*/)?(?:python[0-9.]*|(?:ba|da|z|k)?sh|Rscript|julia|perl|node|exec|env)"
# In a shell command, a program is at the beginning of a command, or after what reads it.
_IN_SHELL_TEXT = (
    r"(?:^|[;&|(\n]|(?<![\w.-])(?:exec|source|\.|sh|bash|python[0-9.]*|Rscript)\s)\s*(?:-[A-Za-z]+\s+)*"
    + _IN_CHANNEL
    + r"/\S"
)
# Such a command may create the directory, or check first whether it exists.
_IS_HEDGED = r"\bmkdir\b|\btest\s|\[\s"
_LONGEST_WORD = 256
_FILE_BESIDE_A_CHANNEL = r"(?P<channel>.+)(?:_[0-9]+|-manifest)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelWord:
    """A word of ContainerEntrypoint or ContainerArguments that is a path in ``channel``."""

    path: Path
    text: str
    channel: str

    def leads_to(self, name: str) -> bool:
        """Return whether ``name`` is the channel: its directory, one of its FIFOs `name_0`, or its manifest."""
        beside = re.fullmatch(_FILE_BESIDE_A_CHANNEL, self.channel)
        return name == self.channel or (beside is not None and beside["channel"] == name)


def channel_words(request: Request) -> Iterator[ChannelWord]:
    """Yield every word that is a path in a channel, and every program that a shell command starts from one."""
    for path, text in _words(request):
        match = re.fullmatch(_WHOLE_WORD, text)
        if match is None:
            yield from _in_shell_text(path, text)
        elif match["channel"] not in (".", ".."):
            yield ChannelWord(path=path, text=text, channel=match["channel"])


def program_words(request: Request) -> Iterator[ChannelWord]:
    """Yield the program of the command if it is in a channel; for a shell command, all programs from channels.

    The program is the first word, or the argument of an interpreter, or else the first word with the suffix of a
    script.
    """
    reads_next = True
    for path, text in _words(request):
        started = list(_in_shell_text(path, text)) if re.search(r"\s", text) else []
        if started:
            yield from started
            return
        if (reads_next and not re.fullmatch(_INTERPRETER, text) and not text.startswith("-")) or re.fullmatch(
            _SUFFIX, text
        ):
            match = re.fullmatch(_PROGRAM, text)
            if match:
                yield ChannelWord(path=path, text=text, channel=match["channel"])
                return
            if re.fullmatch(_SUFFIX, text):
                return
            reads_next = False


def _words(request: Request) -> Iterator[tuple[Path, str]]:
    for name in ("ContainerEntrypoint", "ContainerArguments"):
        for index, word in enumerate(items(request.algorithm, name)):
            if isinstance(word, str) and len(word) <= _LONGEST_WORD:
                yield ("AlgorithmSpecification", name, index), word


def _in_shell_text(path: Path, text: str) -> Iterator[ChannelWord]:
    if not re.search(_IS_HEDGED, text):
        for match in re.finditer(_IN_SHELL_TEXT, text):
            if match["channel"] not in (".", ".."):
                yield ChannelWord(path=path, text=text, channel=match["channel"])


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
