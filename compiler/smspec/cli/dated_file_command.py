"""What ``smspec prices`` and ``smspec quotas`` share: their arguments, asking AWS about regions, and the file."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from smspec.cli.aws_arguments import credentials_wait
from smspec.cli.console import Console, ResourceUnavailable, UsageError
from smspec.cli.parser import add_quiet_argument
from smspec.cli.waiting import Waiting
from smspec.diagnostics import InvalidInput
from smspec.diagnostics.quoting import visible
from smspec.organization import settings_directory
from smspec.organization.dated_file import REGION
from smspec.output.atomic_file import OutputFailed, write_whole
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import Inputs, gather_all
from smspec.pipeline.spec_discovery import NoJobs, find_job_specs
from smspec.service.image_reference import parsed_reference
from smspec.source.frozen import dataclass
from smspec.workspace.boundary import Boundary

_Listed = TypeVar("_Listed")


@dataclass(frozen=True, slots=True)
class Place:
    """The directory of the file: that of smspec.toml, or the top of the repository. ``path`` is that of the file."""

    directory: str
    path: str
    boundary: Boundary
    cache: InputCache


def add_update_arguments(parser: argparse.ArgumentParser) -> None:
    add_quiet_argument(parser)
    parser.add_argument("--update", action="store_true", help="ask AWS, and write the file")
    parser.add_argument("--profile", metavar="P", help="AWS profile for --update")
    parser.add_argument("--region", metavar="R", help="only this region (default: the regions of all jobs)")


def place_of(args: argparse.Namespace, name: str) -> Place:
    """Return the place of a file for the current directory. Raise `UsageError` for arguments that make no sense."""
    if args.profile and not args.update:
        raise UsageError("--profile requires --update")
    if args.region and not re.fullmatch(REGION, args.region):
        raise UsageError(f"--region: `{visible(args.region)}` is not the name of an AWS region")
    cache = InputCache()
    boundary = cache.boundary(os.curdir)
    directory = os.path.relpath(settings_directory(os.curdir, boundary))
    return Place(directory, os.path.normpath(os.path.join(directory, name)), boundary, cache)


def regions_to_ask(args: argparse.Namespace, place: Place, known: Iterable[str]) -> tuple[str, ...]:
    """Return the region of the option, else those of all jobs and those that the file already has."""
    if args.region:
        return (args.region,)
    regions = {*job_regions(place.directory, place.cache), *known}
    return tuple(sorted(region for region in regions if re.fullmatch(REGION, region)))


def listed_by_region(
    args: argparse.Namespace,
    place: Place,
    known: Iterable[str],
    console: Console,
    service: str,
    request: Callable[..., _Listed],
) -> Iterator[tuple[str, _Listed]]:
    """Yield each region with what ``request(session, region)`` lists there. Raise `ResourceUnavailable`.

    All regions are asked, so that the file is complete or unchanged. ``service``: what a person waits for.
    """
    # Imported late: boto3 takes a second to import.
    from smspec.submission.aws_errors import AwsUnavailable
    from smspec.submission.aws_listing import regions_of, session_of

    waiting = Waiting(console)
    try:
        with credentials_wait(console):
            session = session_of(args.profile)
        for region in regions_of(session, regions_to_ask(args, place, known)):
            with waiting.of(f"{service} {region}"):
                listed = request(session, region)
            yield region, listed
    except AwsUnavailable as unavailable:
        raise ResourceUnavailable(str(unavailable)) from unavailable


def write_dated(place: Place, text: str, before: str, console: Console) -> None:
    """Write the file in one step, and report it."""
    if text == before:
        console.remark(visible(f"{place.path} is up to date"))
        return
    try:
        write_whole(place.path, text)
    except OutputFailed as failure:
        raise ResourceUnavailable(str(failure)) from failure
    console.remark(visible(f"wrote {place.path}"))


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{'  '.join(cells).rstrip()}\n" for cells in padded)


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def today() -> str:
    """Return the date, in UTC."""
    from datetime import datetime, timezone

    return datetime.now(timezone.utc).date().isoformat()


def job_regions(directory: str, cache: InputCache) -> tuple[str, ...]:
    """Return the regions of all jobs below a directory, sorted. Specs with errors count as far as they can be read."""
    try:
        specs = find_job_specs([directory], cache).jobs
    except NoJobs:
        return ()
    found = set()
    for spec in specs:
        try:
            found |= {_region(inputs) for _, inputs in gather_all(spec, {}, cache) if isinstance(inputs, Inputs)}
        except InvalidInput:
            continue
    return tuple(sorted(region for region in found if region))


def _region(job: Inputs) -> str | None:
    """Return the region that a spec sets, or the region of its image in ECR."""
    written = job.document.string(("region",))
    image = None if written else parsed_reference(job.document.string(("image",)) or "")
    return image.region if image is not None else written
