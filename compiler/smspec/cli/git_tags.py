"""The tags that lead from a job to its spec: the commit, and whether it lacks what the job uses.

As a variable or part of the rendered request, each commit would make a new job. If the tags of the spec leave no room,
these are omitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.cli.job_build import JobBuild
from smspec.diagnostics.visible import visible
from smspec.local.source_files import source_files
from smspec.workspace.git_labels import git_state

COMMIT_TAG = "smspec:git-commit"
DIRTY_TAG = "smspec:git-dirty"


def git_tags(build: JobBuild) -> dict[str, str]:
    """Return the tags for the repository of a spec; none outside of git, or before its first commit."""
    inputs = build.job.inputs
    files = [path for _, path in source_files(build.tree)]
    state = git_state(inputs.directory, [*files, *(text.name for text in inputs.document.texts)])
    if state is None:
        return {}
    return {COMMIT_TAG: state.commit, DIRTY_TAG: "true" if state.is_dirty else "false"}


def commit_lines(tags: Mapping[str, str]) -> Iterator[str]:
    """Yield the line about the commit of a job with these tags, if they contain one."""
    if COMMIT_TAG in tags:
        changes = ", with changes that it does not contain" if tags.get(DIRTY_TAG) == "true" else ""
        yield f"git commit: {visible(tags[COMMIT_TAG])}{changes}"


def commit_record(tags: Mapping[str, str]) -> dict[str, object]:
    """Return the commit of a job with these tags as JSON; None if they contain none."""
    is_known = COMMIT_TAG in tags and DIRTY_TAG in tags
    return {"git_commit": tags.get(COMMIT_TAG), "git_dirty": tags[DIRTY_TAG] == "true" if is_known else None}
