"""The runtime and the toolkits install what the source asks for when the job starts, and need an index for it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.isolation import isolation_path
from smspec.spec.model import BuiltImage, JobSpec, ScriptEntry
from smspec.spec.starter import starter

RULE = Rule("SM379", "isolated job that installs packages")


def check(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Refuse network isolation where pip would run at start."""
    path = isolation_path(job)
    if path is None or job.source is None or starter(job) == "image":
        return
    # A setup.py is built as a package, and pip fetches what builds it.
    asked = [file for file in ("requirements.txt", "setup.py") if source.has(file)]
    if "setup.py" in asked and not isinstance(job.entry_point, ScriptEntry):
        asked.remove("setup.py")
    if asked:
        yield RULE.at(
            path,
            f"`{asked[0]}` in the source is installed when the job starts, and an isolated container reaches no index",
            help="name the file in `image.python_requirements` and keep it out of the source with `source.ignore`"
            if isinstance(job.image, BuiltImage)
            else "build an image that holds the packages",
        )
