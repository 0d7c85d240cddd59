"""`glob` and `os.walk` find nothing below a directory that does not exist, and a Pipe channel has none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.script.pipe_channel_used_as_a_file import uses_of_piped
from smspec.rules.script.script_and_job import ScriptAndJob

RULE = Rule("SM540", "search in a Pipe channel", "warning")

_OPERATIONS = frozenset({"glob.glob", "glob.iglob", "os.walk", "Path.glob", "Path.rglob"})

# A string, compiled only when a channel is in Pipe mode.
_KNOWS_PIPES = r"(?i)pipe|fifo|_0\b|_\{|[\"']_[\"']"
"""A script with such words may read FIFOs if it finds no files."""


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a Pipe channel in whose directory the script certainly looks for files."""
    if not both.environment.piped or any(re.search(_KNOWS_PIPES, text.text) for text in both.program.texts):
        return
    seen: set[str] = set()
    for channel, operation, place in uses_of_piped(both, both.program.searches):
        if channel not in seen and operation in _OPERATIONS:
            seen.add(channel)
            yield RULE.at(
                ("channels", channel, "input_mode"),
                f"`{both.name}` finds no files of channel `{channel}`, because `input_mode` is `Pipe`",
                help=f"set `input_mode: FastFile`, or read the FIFO `{channel}_0` in the script",
                notes=(Note("the script looks for files here", place),),
            )
