"""`os.environ.get` returns None for the variable of a missing channel, and file operations reject None."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.script_and_job import ScriptAndJob, passes

RULE = Rule("SM527", "missing channel used without a check")

_ACCEPT_NONE = frozenset({"os.listdir", "os.scandir", "os.walk", "os.chdir", "datasets.load_dataset", "torch.save"})
"""They accept None, and use the current directory."""


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a job without a channel whose path, None then, certainly reaches an operation that fails."""
    channels = both.environment.channels
    known = {channel.upper() for channel in channels}
    seen: set[str] = set()
    for use in both.program.channel_uses:
        if not use.may_be_none or use.operation in _ACCEPT_NONE or use.written in seen:
            continue
        if use.name in known or use.written in both.environment.variables or passes(both, use.options):
            continue
        seen.add(use.written)
        near = nearest(use.name, channels)
        yield RULE.at(
            both.environment.channels_path,
            f"`{both.name}` uses `{use.written}` as a path, but the job has no channel `{use.name.lower()}`",
            label=f"did you mean `{near}`?" if near else "",
            help="add the channel, or check for None in the script",
            on="key",
            notes=(Note("the script uses it here", use.place),),
        )
