"""``smspec build``: write the build directories of specs, and build and push their images."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence

from smspec.cli.console import Console, UsageError
from smspec.cli.image_arguments import JobBuild, add_image_arguments, check_image_arguments, job_build, with_images
from smspec.cli.parser import add_verbosity_arguments
from smspec.cli.spec_arguments import (
    add_changed_argument,
    add_variation_arguments,
    compiled_all,
    default_directory,
    searched_paths,
)
from smspec.diagnostics.quoting import visible
from smspec.output.writing import differences, write_tree
from smspec.render.tree import UPLOAD
from smspec.service.job_costs import cost_line
from smspec.source.frozen import replace
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.path_targets import is_directory

HELP = """\
Generate the build directory of each spec: Dockerfile, entrypoint, runtime, source, and request. A directory means the
job specs below it; if some of them have errors, smspec still writes the others, and exits with status 1.

Builds are reproducible, and smspec never overwrites a directory it did not create. `docker build DIR` and
`aws sagemaker create-training-job --cli-input-json file://DIR/create-training-job.json` accept it without changes.

--image builds the image with a container engine, --push also pushes it, to Amazon ECR with your AWS credentials. The
tag is the digest of the content: nothing is built or pushed if it exists."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories to search (default: job.yaml)")
    add_changed_argument(parser)
    add_variation_arguments(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="output directory (default: build/NAME, with an overlay build/NAME.OVERLAY)",
    )
    add_verbosity_arguments(
        parser,
        quiet="show only warnings, errors, and the result",
        verbose="also list the files of the directory, and show all lines of the engine",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="result on stdout: directory and image, or one JSON object, or an array of them for several jobs",
    )
    parser.add_argument("--check", action="store_true", help="write no files; exit 1 if DIR is out of date")
    add_image_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    check_image_arguments(args)
    paths = searched_paths(args)
    is_one = len(paths) == 1 and not is_directory(paths[0])
    found = compiled_all(args, console)
    if is_one and found.invalid is not None:
        raise found.invalid
    builds = [job_build(spec, job, args.output or default_directory("build", job)) for spec, job in found.jobs]
    _check_directories(builds, args)
    with signals_interrupt():
        builds = [_written(build, args, console) for build in builds]
        if args.image or args.push:
            builds = with_images(builds, args, console, os.environ, pushes=args.push)
    if args.format == "json":
        console.result(build_report(builds, is_one=is_one))
    else:
        console.result("".join(line for build in builds for line in _lines(build, is_one=is_one)))
    if found.invalid is not None:
        console.warned(found.invalid.diagnostics, found.invalid.texts)
    return 1 if found.invalid is not None or any(build.stale for build in builds) else 0


def _check_directories(builds: list[JobBuild], args: argparse.Namespace) -> None:
    """Raise `UsageError` if jobs would be written to the same directory."""
    if args.output and len(builds) > 1:
        raise UsageError(f"--output names one directory, but there are {len(builds)} jobs")
    specs: dict[str, str] = {}
    for build in builds:
        other = specs.setdefault(build.directory, build.spec)
        if other != build.spec:
            raise UsageError(
                f"`{other}` and `{build.spec}` both belong in {build.directory}; build them one by one with --output"
            )


def _written(build: JobBuild, args: argparse.Namespace, console: Console) -> JobBuild:
    """Write the files of a job, or find what is out of date."""
    if args.check:
        build = replace(build, stale=differences(build.tree, build.directory))
    else:
        write_tree(build.tree, build.directory)
    if build.stale:
        console.say(f"{build.directory} is out of date; run `smspec build`")
    elif build.stale is not None:
        console.remark(f"{build.directory} is up to date")
    else:
        _remark_on_build(build, console)
    return build


def _remark_on_build(build: JobBuild, console: Console) -> None:
    files = build.tree.files
    for file in files:
        console.detail(f"  {visible(file.path)}")
    console.remark(f"wrote {len(files)} files")
    if any(file.path.startswith(UPLOAD) for file in files):
        console.remark(
            f"before you start the job, copy `{UPLOAD}` to S3; `uploads` in manifest.json lists the URI of each file"
        )
    if build.job.plan.others:
        console.remark(
            f"create-training-job.json has the first of {len(build.job.plan.requests)} alternatives in `hosts.any_of`;"
            " `smspec submit` uses all of them"
        )
    if build.cost is not None:
        console.remark(cost_line([build.cost]))


def _lines(build: JobBuild, *, is_one: bool) -> Iterator[str]:
    """Yield the result of a job: its directory and image, or what is out of date."""
    if build.stale is None:
        yield f"{build.directory}\n"
        if build.published is not None:
            yield f"{build.published.reference}\n"
    for difference in build.stale or ():
        yield f"{visible(f'{difference}' if is_one else f'{build.directory}/{difference}')}\n"


def build_report(builds: Sequence[JobBuild], *, is_one: bool) -> str:
    """Return one JSON object, or an array of them for directories and several specs.

    Instance time is in seconds; amounts of money are per currency, as far as there are prices.
    """
    reports = [_report(build) for build in builds]
    return json.dumps(reports[0] if is_one else reports, indent=2) + "\n"


def _report(build: JobBuild) -> dict[str, object]:
    plan, stale, cost, published = build.job.plan, build.stale, build.cost, build.published
    report: dict[str, object] = {
        "job": plan.name,
        "training_job_name": plan.request.payload["TrainingJobName"],
        "directory": build.directory,
        "status": "written" if stale is None else "out of date" if stale else "up to date",
        "image": None if plan.image is None else plan.image.uri,
        "files": [file.path for file in build.tree.files],
        "uploads": build.tree.uploads,
        "differences": [{"path": one.path, "kind": one.kind} for one in stale or ()],
        "cost_ceiling": None
        if cost is None
        else {"instance_seconds": cost.seconds, "amounts": {key: float(value) for key, value in cost.amounts.items()}},
    }
    if published is not None:
        report |= {"image_status": published.status, "image_digest": published.digest}
        if published.archive is not None:
            report["image_archive"] = published.archive
    return report
