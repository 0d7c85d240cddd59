"""One job of a build (its files and their directory), and the arguments that also build or push its image."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.cli.waiting import Waiting
from smspec.diagnostics.quoting import visible
from smspec.output.writing import PathDifference
from smspec.pipeline.compilation import Compiled, compiled_digest
from smspec.publishing.publication import BUILDERS, ENGINES
from smspec.render.tree import FileTree
from smspec.render.tree_rendering import render_tree
from smspec.service.image_reference import parsed_reference
from smspec.service.job_costs import JobCost
from smspec.service.policy import RegistrySettings
from smspec.source.frozen import dataclass, replace
from smspec.spec.model import BuiltImage

if TYPE_CHECKING:
    from smspec.publishing.publication import JobImage, PublishedImage, PublishFailed

_MOST_LINES = 20


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


def add_image_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--image", action="store_true", help="also build the image, unless the engine has it")
    parser.add_argument(
        "--push", action="store_true", help="also push the image, unless its registry has it; builds it if needed"
    )
    parser.add_argument(
        "--engine",
        choices=BUILDERS,
        help="what builds the image (default: SMSPEC_ENGINE, or the first engine that answers); none: smspec itself",
    )
    parser.add_argument("--profile", metavar="P", help="AWS profile for --push")
    parser.add_argument("--region", metavar="R", help="fail unless --push pushes to ECR in this AWS region")


def check_image_arguments(args: argparse.Namespace) -> None:
    """Raise `UsageError` for arguments that make no sense together."""
    wants_image = args.image or args.push
    if args.engine and not wants_image:
        raise UsageError("--engine requires --image or --push")
    if (args.profile or args.region) and not args.push:
        raise UsageError(f"{'--profile' if args.profile else '--region'} requires --push")
    if wants_image and args.check:
        raise UsageError("--check cannot be combined with --image or --push")


def with_images(
    builds: list[JobBuild],
    args: argparse.Namespace,
    console: Console,
    variables: Mapping[str, str],
    *,
    pushes: bool,
) -> list[JobBuild]:
    """Build the images of jobs whose files have been written, or push them, and return the jobs with them."""
    # Imported late: a build without images starts no process and opens no connection.
    from smspec.publishing.publication import PublishFailed, PublishOptions
    from smspec.publishing.publishing import publish
    from smspec.workspace.own_directories import temporary_directory

    images = [image for build in builds if (image := _job_image(build)) is not None]
    if not images:
        console.remark("no image to build: the jobs use existing images")
        return builds
    if args.region:
        _check_region(images, args.region, requires_ecr="push" in args)
    hidden: deque[str] = deque(maxlen=_MOST_LINES)

    def show(line: str) -> None:
        if console.verbosity < 0:
            hidden.append(line)
        console.remark(visible(line))

    engine = args.engine or next((name for name in ENGINES if name == variables.get("SMSPEC_ENGINE")), None)
    with temporary_directory() as scratch:
        options = PublishOptions(
            engine=engine,
            pushes=pushes,
            profile=args.profile,
            scratch_dir=scratch,
            is_verbose=console.verbosity > 0,
            show=show,
            waits=Waiting(console).of,
        )
        try:
            published = publish(images, options)
        except PublishFailed as fault:
            for line in hidden:
                console.say(visible(line))
            raise _refused(fault) from fault
    for outcome in published.values():
        console.remark(_sentence(outcome))
    return [
        build if build.job.plan.image is None else replace(build, published=published.get(build.job.plan.image.uri))
        for build in builds
    ]


def _check_region(images: Sequence[JobImage], region: str, *, requires_ecr: bool) -> None:
    """Raise `UsageError` for an image in ECR of a different region: its name, and so its job, are those of the spec.

    ``requires_ecr``: also for an image of a registry without a region.
    """
    for image in images:
        reference = parsed_reference(image.image.uri)
        if requires_ecr and (reference is None or reference.region is None):
            raise UsageError(f"--region is {region}, but `{image.image.uri}` is not in Amazon ECR; remove --region")
        if reference is not None and reference.region not in (None, region):
            raise UsageError(
                f"--region is {region}, but `{image.image.uri}` is in {reference.region}; set `region` in {image.spec}"
            )


def published_image(build: JobBuild, profile: str | None, *, patience: float) -> PublishedImage | None:
    """Return the image of a job if its registry has it; None if not, or if the job uses an existing image.

    ``patience``: seconds to ask a registry that does not answer. Raise `UnusableImage` for something else there.
    """
    # Imported late, as above.
    from smspec.publishing.publication import PublishFailed, UnusableImage
    from smspec.publishing.publishing import present

    image = _job_image(build)
    try:
        return present(image, profile, patience=patience) if image is not None else None
    except UnusableImage:
        raise
    except PublishFailed as fault:
        raise _refused(fault) from fault


def _refused(fault: PublishFailed) -> CommandRefused | ResourceUnavailable:
    return (CommandRefused if fault.exit_status == 1 else ResourceUnavailable)(str(fault))


def _job_image(build: JobBuild) -> JobImage | None:
    from smspec.publishing.publication import JobImage

    job, image = build.job, build.job.job.image
    if not isinstance(image, BuiltImage) or job.plan.image is None:
        return None
    # Imported late: most commands make no image.
    from smspec.local.running.image_content import source_files

    policy = job.inputs.policy
    return JobImage(
        spec=build.spec,
        plan=job.plan,
        image=job.plan.image,
        authored=image,
        tree=build.directory,
        content=build.tree,
        base_dir=job.inputs.directory,
        files=tuple(origin for _, origin in source_files(build.tree)),
        region=job.job.region,
        settings=RegistrySettings() if policy is None else policy.registry,
    )


def _sentence(image: PublishedImage) -> str:
    if image.archive is not None:
        place = f"{visible(image.archive)}; load it with `docker load --input`"
        return f"{image.uri} is {'already ' if image.status == 'present' else ''}in {place}"
    if image.status == "present":
        return f"{image.uri} is already {'in its registry' if image.digest else 'built'}"
    return f"{image.status} {image.uri}"
