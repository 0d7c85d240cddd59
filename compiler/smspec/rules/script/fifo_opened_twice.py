"""Each FIFO of a Pipe channel is one pass over the data: the next pass is a new FIFO."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, passes
from smspec.script.readers.environment import DATA
from smspec.source import Span

RULE = Rule("SM535", "FIFO opened twice", "warning")

_OPENING = frozenset(
    {"open", "io.open", "os.open", "Path.open", "Path.read_bytes", "Path.read_text", "pandas.read_csv"}
)

_EPOCH = re.compile(r"_\d+", re.ASCII)


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a FIFO that the script certainly opens in two places."""
    opened: dict[str, Span] = {}
    seen: set[str] = set()
    for fifo, place in sorted(_openings(both), key=lambda found: (found[1].file, found[1].line)):
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


def _openings(both: ScriptAndJob) -> Iterator[tuple[str, Span]]:
    """Yield each FIFO that the script certainly opens, and where."""
    piped = {channel.upper(): channel for channel in both.environment.piped}
    for use in both.program.channel_uses:
        is_fifo = use.name in piped and _EPOCH.fullmatch(use.rest or "") is not None
        if is_fifo and use.operation in _OPENING and not passes(both, use.options):
            yield f"{piped[use.name]}{use.rest}", use.place
    for file in both.program.file_uses:
        name, _, epoch = file.path.removeprefix(DATA).rpartition("_")
        is_fifo = file.path.startswith(DATA) and name in both.environment.piped and epoch.isdecimal()
        if is_fifo and file.operation in _OPENING:
            yield f"{name}_{epoch}", file.place
