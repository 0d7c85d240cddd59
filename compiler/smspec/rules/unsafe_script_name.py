"""SageMaker's toolkit rejects names that are unsafe in a shell or an import; so does the runtime."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, ScriptEntry

RULE = Rule("SM311", "unsafe script name")

_NAME = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._+-]*(/[A-Za-z0-9._+-]+)*")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a script whose name is not relative to the source or contains special characters."""
    entry = job.entry_point
    if isinstance(entry, ScriptEntry) and not is_safe(entry.script):
        plain = entry.script.removeprefix("./")
        yield RULE.at(
            ("entry_point", "script"),
            f"`entry_point.script`: `{entry.script}` is not a valid script path",
            label=f"write `{plain}`" if plain != entry.script and is_safe(plain) else "",
            help="use a path inside the source, without `.` or `..` segments, of letters, digits, and `. _ + - /`",
        )


def is_safe(script: str) -> bool:
    """Return whether the runtime, and SageMaker's toolkit, accept a name."""
    return bool(_NAME.fullmatch(script)) and not {".", ".."} & set(script.split("/"))
