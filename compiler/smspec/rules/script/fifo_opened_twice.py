"""Each FIFO of a Pipe channel is one pass over the data: the next pass is a new FIFO."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, passes
from smspec.script.program import ChannelUse, FileUse, RepeatedUse, bare
from smspec.script.readers.environment import DATA
from smspec.source import Span

RULE = Rule("SM535", "FIFO opened twice", "warning")

_OPENING = frozenset(
    {"open", "io.open", "os.open", "Path.open", "Path.read_bytes", "Path.read_text", "pandas.read_csv"}
)

_EPOCH = re.compile(r"_\d+", re.ASCII)


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a FIFO that the script certainly opens in two places, or in each pass of a loop."""
    opened: dict[str, Span] = {}
    seen: set[str] = set()
    for fifo, place in _openings(both, [one.use for one in both.program.repeated_uses if _is_repeated(both, one)]):
        channel, _, epoch = fifo.rpartition("_")
        if fifo not in seen:
            seen.add(fifo)
            yield RULE.at(
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
            yield RULE.at(
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
        elif use.name in piped and _EPOCH.fullmatch(use.rest or "") and not passes(both, use.options):
            yield f"{piped[use.name]}{use.rest}", use.place
