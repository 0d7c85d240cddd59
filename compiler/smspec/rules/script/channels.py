"""Rules about the channels that a script reads, by argument, variable, or path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.suggestions import did_you_mean, nearest
from smspec.rules.script.starts import ScriptAndJob, passes, read_at
from smspec.script.file_use import READING, READS
from smspec.script.program import ChannelRead, ChannelUse, FileUse, RepeatedUse, bare
from smspec.script.readers.environment import DATA
from smspec.source import Span

MISSING_CHANNEL = Rule("SM506", "missing channel of the script")


def missing_channel(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a job without a channel whose variable the script requires.

    SageMaker sets SM_CHANNEL_X for the channels of the job, and for no others.
    """
    channels = both.environment.channels
    known = {channel.upper() for channel in channels}
    for read in both.program.channels:
        if read.by != "variable" or not read.fails:
            continue
        if read.name in known or read.written in both.environment.variables:
            continue
        yield MISSING_CHANNEL.at(
            both.environment.channels_path,
            f"`{both.name}` reads `{read.written}`, but the job has no channel `{read.name.lower()}`",
            label=did_you_mean(read.name, channels),
            help=_help(read.name, both),
            on="key",
            notes=read_at(read.place),
        )


PATH_OF_A_MISSING_CHANNEL = Rule("SM507", "path of a missing channel", "warning")


def path_of_a_missing_channel(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a path, a job's channel by name, or a variable similar to that of a channel.

    Only channels of the job are below /opt/ml/input/data.
    """
    channels = both.environment.channels
    for read in both.program.channels:
        if _is_there(read, channels) or read.written in both.environment.variables:
            continue
        near = nearest(read.name, channels)
        if read.by == "variable" and (near is None or read.fails or _is_read(near, both)):
            continue  # a variable that may be missing usually is; one with a similar name is a typo
        what = {"path": f"`{read.written}`", "job": f"the channel `{read.name}`", "variable": f"`{read.written}`"}
        name = read.name if read.by != "variable" else read.name.lower()
        yield PATH_OF_A_MISSING_CHANNEL.at(
            both.environment.channels_path,
            f"`{both.name}` reads {what[read.by]}, but the job has no channel `{name}`",
            label=f"did you mean `{near}`?" if near else "",
            help=_help(read.name, both),
            on="key",
            notes=read_at(read.place),
        )


def _is_there(read: ChannelRead, channels: tuple[str, ...]) -> bool:
    if read.by == "variable":
        return read.name in {channel.upper() for channel in channels}
    # Next to the directory of a channel are its manifest and, in Pipe mode, the FIFOs of its epochs.
    return any(
        read.name == channel or (read.name.startswith((f"{channel}_", f"{channel}-")) and read.by == "path")
        for channel in channels
    )


def _is_read(channel: str, both: ScriptAndJob) -> bool:
    return any(read.name in (channel, channel.upper()) for read in both.program.channels)


def _help(missing: str, both: ScriptAndJob, otherwise: str = "change the script") -> str:
    """Return the remedy: another name for the only channel that the script does not read, or a new channel."""
    known = {channel.upper() for channel in both.environment.channels}
    needed = {read.name.upper() for read in both.program.channels} - known
    unread = [channel for channel in both.environment.channels if not _is_read(channel, both)]
    if needed == {missing.upper()} and len(unread) == 1:
        return f"rename the channel `{unread[0]}` to `{missing.lower()}`, or {otherwise}"
    return f"add the channel, or {otherwise}"


USED_CHANNEL_THAT_IS_MISSING = Rule("SM527", "missing channel used without a check")

_ACCEPT_NONE = frozenset({"os.listdir", "os.scandir", "os.walk", "os.chdir", "datasets.load_dataset", "torch.save"})
"""They accept None, and use the current directory."""


def used_channel_that_is_missing(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a job without a channel whose path, None then, certainly reaches an operation that fails.

    `os.environ.get` returns None for the variable of a missing channel, and file operations reject None.
    """
    channels = both.environment.channels
    known = {channel.upper() for channel in channels}
    seen: set[str] = set()
    for use in both.program.channel_uses:
        if not use.may_be_none or use.operation in _ACCEPT_NONE or use.written in seen:
            continue
        if use.name in known or use.written in both.environment.variables or passes(both, use.options):
            continue
        seen.add(use.written)
        yield USED_CHANNEL_THAT_IS_MISSING.at(
            both.environment.channels_path,
            f"`{both.name}` uses `{use.written}` as a path, but the job has no channel `{use.name.lower()}`",
            label=did_you_mean(use.name, channels),
            help=_help(use.name, both, "check for None in the script"),
            on="key",
            notes=(Note("the script uses it here", use.place),),
        )


PIPE_CHANNEL_USED_AS_A_FILE = Rule("SM534", "Pipe channel used as a directory")

_FAILING = (
    READS
    | {f"Path.{name}" for name in READING}
    | {"numpy.memmap", "os.chdir", "os.open", "shutil.copytree", "tarfile.open", "torchvision.datasets.ImageFolder"}
)
"""Operations that fail without the file or directory."""


def pipe_channel_used_as_a_file(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a Pipe channel that the script certainly opens as a directory, or as a file in it.

    In Pipe mode SageMaker creates FIFOs, `NAME_0` and so on, but neither a directory `NAME` nor files in it.
    """
    seen: set[str] = set()
    for channel, operation, place in uses_of_piped(both, both.program.file_uses):
        if channel in seen or operation not in _FAILING:
            continue
        seen.add(channel)
        yield PIPE_CHANNEL_USED_AS_A_FILE.at(
            ("channels", channel, "input_mode"),
            f"`{both.name}` opens the directory of channel `{channel}`, but `input_mode` is `Pipe`",
            help=f"set `input_mode: FastFile`, or read the FIFO `{DATA}{channel}_0` in the script",
            notes=(Note("the script uses it here", place),),
        )


def uses_of_piped(both: ScriptAndJob, files: Iterable[FileUse]) -> Iterator[tuple[str, str, Span]]:
    """Yield uses of the directory of a Pipe channel: by its variable, then by its path."""
    by_variable = {channel.upper(): channel for channel in both.environment.piped}
    for use in both.program.channel_uses:
        is_inside = use.rest is not None and (not use.rest or use.rest.startswith("/"))
        is_set = use.written in both.environment.variables or passes(both, use.options)
        if use.name in by_variable and is_inside and not is_set:
            yield by_variable[use.name], use.operation, use.place
    for file in files:
        name = file.path.removeprefix(DATA).partition("/")[0]
        if file.path.startswith(DATA) and name in both.environment.piped:
            yield name, file.operation, file.place


SEARCH_OF_A_PIPE_CHANNEL = Rule("SM540", "search in a Pipe channel", "warning")

_OPERATIONS = frozenset({"glob.glob", "glob.iglob", "os.walk", "Path.glob", "Path.rglob"})

# A string, compiled only when a channel is in Pipe mode.
_KNOWS_PIPES = r"(?i)pipe|fifo|_0\b|_\{|[\"']_[\"']"
"""A script with such words may read FIFOs if it finds no files."""


def search_of_a_pipe_channel(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a Pipe channel in whose directory the script certainly looks for files.

    `glob` and `os.walk` find nothing below a directory that does not exist, and a Pipe channel has none.
    """
    if not both.environment.piped or any(re.search(_KNOWS_PIPES, text.text) for text in both.program.texts):
        return
    seen: set[str] = set()
    for channel, operation, place in uses_of_piped(both, both.program.searches):
        if channel not in seen and operation in _OPERATIONS:
            seen.add(channel)
            yield SEARCH_OF_A_PIPE_CHANNEL.at(
                ("channels", channel, "input_mode"),
                f"`{both.name}` finds no files of channel `{channel}`, because `input_mode` is `Pipe`",
                help=f"set `input_mode: FastFile`, or read the FIFO `{channel}_0` in the script",
                notes=(Note("the script looks for files here", place),),
            )


FIFO_OPENED_TWICE = Rule("SM535", "FIFO opened twice", "warning")

_OPENING = frozenset(
    {"open", "io.open", "os.open", "Path.open", "Path.read_bytes", "Path.read_text", "pandas.read_csv"}
)

_EPOCH = r"_\d+"


def fifo_opened_twice(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a FIFO that the script certainly opens in two places, or in each pass of a loop.

    Each FIFO of a Pipe channel is one pass over the data: the next pass is a new FIFO.
    """
    opened: dict[str, Span] = {}
    seen: set[str] = set()
    for fifo, place in _openings(both, [one.use for one in both.program.repeated_uses if _is_repeated(both, one)]):
        channel, _, epoch = fifo.rpartition("_")
        if fifo not in seen:
            seen.add(fifo)
            yield FIFO_OPENED_TWICE.at(
                ("channels", channel, "input_mode"),
                f"`{both.name}` opens the FIFO `{fifo}` in a loop, but `input_mode: Pipe` streams it only once",
                help=f"read `{channel}_{{epoch}}` in pass `epoch`, or set `input_mode: FastFile`",
                notes=(Note("the script opens it in each pass here", place),),
            )
    found = _openings(both, [*both.program.channel_uses, *both.program.file_uses])
    for fifo, place in sorted(found, key=lambda found: (found[1].file, found[1].line)):
        channel, _, epoch = fifo.rpartition("_")
        if fifo not in opened:
            opened[fifo] = place
        elif fifo not in seen and place != opened[fifo]:
            seen.add(fifo)
            yield FIFO_OPENED_TWICE.at(
                ("channels", channel, "input_mode"),
                f"`{both.name}` opens the FIFO `{fifo}` twice, but `input_mode: Pipe` streams it only once",
                help=f"read `{channel}_{int(epoch) + 1}` for the next pass, or set `input_mode: FastFile`",
                notes=(Note("the script opens it again here", place),),
            )


def _is_repeated(both: ScriptAndJob, repeated: RepeatedUse) -> bool:
    """Return whether a loop has at least two passes."""
    if repeated.times is not None:
        return repeated.times > 1
    values = [one.value for one in both.environment.arguments or () if bare(one.label) == bare(repeated.option)]
    return any(isinstance(value, int) and value > 1 for value in values)


def _openings(both: ScriptAndJob, uses: Iterable[ChannelUse | FileUse]) -> Iterator[tuple[str, Span]]:
    """Yield each FIFO that the script opens, and where."""
    piped = {channel.upper(): channel for channel in both.environment.piped}
    for use in uses:
        if use.operation not in _OPENING:
            continue
        if isinstance(use, FileUse):
            name, _, epoch = use.path.removeprefix(DATA).rpartition("_")
            if use.path.startswith(DATA) and name in both.environment.piped and epoch.isdecimal():
                yield f"{name}_{epoch}", use.place
        elif use.name in piped and re.fullmatch(_EPOCH, use.rest or "", re.ASCII) and not passes(both, use.options):
            yield f"{piped[use.name]}{use.rest}", use.place


RULES = (
    missing_channel,
    path_of_a_missing_channel,
    used_channel_that_is_missing,
    pipe_channel_used_as_a_file,
    search_of_a_pipe_channel,
    fifo_opened_twice,
)
