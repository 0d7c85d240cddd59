"""The source is copied as it is: a module that is not in it cannot be imported from it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.program.program_and_image import ProgramAndImage, file_name, here, project_name

RULE = Rule("SM519", "missing module of the source")


def check(both: ProgramAndImage) -> Iterator[Finding]:
    """Reject a module of the source that every run imports and the source does not have."""
    for missing in both.reach.missing:
        name = missing.name if missing.reason else missing.name.replace(".", "/") + ".py"
        yield RULE.at(
            both.path,
            f"`{file_name(missing.place)}` cannot import `{missing.name}`: "
            + (missing.reason or f"`{name}` is not in the source"),
            help="add the file to the source, or change the import",
            notes=here("the module imports it here", missing.place),
        )
    for ignored in both.reach.ignored:
        if project_name(ignored.name.partition(".")[0]) in both.declared:
            continue  # the image may provide a module of the same name
        yield RULE.at(
            both.path,
            f"`{file_name(ignored.place)}` cannot import `{ignored.name}`: `source` excludes `{ignored.file}`",
            help=f"remove the pattern that excludes it ({ignored.by}), or add `!{ignored.file}` to `source.ignore`",
            notes=here("the module imports it here", ignored.place),
        )
