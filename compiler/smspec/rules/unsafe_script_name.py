"""SageMaker's toolkit refuses names that a shell or an import would trip over; so does the runtime."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, ScriptEntry

RULE = Rule("SM311", "unsafe script name")

_NAME = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._+-]*(/[A-Za-z0-9._+-]+)*")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Refuse a script that is not named relative to the source, in plain letters."""
    entry = job.entry_point
    if isinstance(entry, ScriptEntry) and not is_safe(entry.script):
        plain = entry.script.removeprefix("./")
        yield RULE.at(
            ("entry_point", "script"),
            f"`entry_point.script`: `{entry.script}` is not a valid script path",
            label=f"write `{plain}`" if plain != entry.script and is_safe(plain) else "",
            help="use a path inside the source without `.` and `..`; letters, digits, and `. _ + -` are allowed",
        )


def is_safe(script: str) -> bool:
    """Tell whether the runtime, and SageMaker's toolkit, take a name."""
    return bool(_NAME.fullmatch(script)) and not {".", ".."} & set(script.split("/"))
