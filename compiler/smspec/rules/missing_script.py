"""The script must be among the files that are sent to the container."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.fix import spelling_fix
from smspec.diagnostics.suggestions import nearest
from smspec.rules.unsafe_script_name import is_safe
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, ScriptEntry

RULE = Rule("SM310", "missing script")


def check(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Reject a script that is missing from the source, or is ignored there."""
    entry = job.entry_point
    if not isinstance(entry, ScriptEntry) or job.source is None or not is_safe(entry.script):
        return
    if source.has(entry.script):
        return
    near = _nearest_file(entry.script, source)
    yield RULE.at(
        ("entry_point", "script"),
        f"`entry_point.script`: `{entry.script}` not found in `{job.source.dir}`",
        label=f"did you mean `{near}`?" if near else "",
        fix=spelling_fix(entry.script, (file.path for file in source.files)),
        help="fix the name, or remove the pattern that excludes it from .gitignore, .dockerignore, or `source.ignore`",
    )


def _nearest_file(script: str, source: Listing) -> str | None:
    """Return a file of the same name in a different directory, else one with a similar path."""
    paths = [file.path for file in source.files]
    name = script.rpartition("/")[2]
    return next((path for path in paths if path.rpartition("/")[2] == name), None) or nearest(script, paths)
