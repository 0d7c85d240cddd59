"""One job of a build: its files, where they belong, and its image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.output.existing_output import PathDifference
from smspec.pipeline.compilation import Compiled, compiled_digest
from smspec.render.tree import FileTree
from smspec.render.tree_rendering import render_tree
from smspec.service.job_costs import JobCost
from smspec.source.frozen import dataclass

if TYPE_CHECKING:
    from smspec.publishing.publication import PublishedImage


@dataclass(frozen=True, slots=True, kw_only=True)
class JobBuild:
    """``spec`` is its path. ``stale``: what ``--check`` found, None after a build. ``published``: its image."""

    spec: str
    job: Compiled
    directory: str
    tree: FileTree
    cost: JobCost | None
    stale: list[PathDifference] | None = None
    published: PublishedImage | None = None


def job_build(spec: str, job: Compiled, directory: str) -> JobBuild:
    """Return the build of a job in a directory, which is not written yet."""
    return JobBuild(
        spec=spec,
        job=job,
        directory=directory,
        tree=render_tree(job.plan, job.inputs.build_inputs, compiled_digest(job.plan)),
        cost=job.cost,
    )
