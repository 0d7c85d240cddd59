"""``smspec prices``: the prices of training instances, and their update.

``quotas`` shares the arguments, asking AWS about regions, and writing the file.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from smspec.cli.aws_arguments import credentials_wait
from smspec.cli.console import Console, ResourceUnavailable, UsageError, table
from smspec.cli.parser import add_quiet_argument
from smspec.cli.waiting import Waiting
from smspec.diagnostics import InvalidInput, count
from smspec.diagnostics.quoting import visible
from smspec.organization import prices_of, settings_directory
from smspec.organization.dated_file import PRICES, REGION, UPDATE_PRICES, listed_prices, price_text
from smspec.organization.organization_config import MalformedConfig, rejected
from smspec.output.atomic_file import write_whole
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import Inputs, gather_all
from smspec.pipeline.spec_discovery import NoJobs, find_job_specs
from smspec.service.image_reference import parsed_reference
from smspec.service.job_costs import RegionPrices
from smspec.source.frozen import dataclass
from smspec.workspace.boundary import Boundary

HELP = """\
Print the prices of training instances that smspec knows: those in the table [prices] of smspec.toml, and those in
smspec.prices.json.

With --update, request the prices of all training instances from the AWS Price List API, and write smspec.prices.json
next to smspec.toml, or else at the top of the repository. Requires `pricing:GetProducts`.

Exit status: 0 done; 3 no credentials, AWS rejects the request, or the file cannot be written."""

_Listed = TypeVar("_Listed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_update_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    place = place_of(args, PRICES)
    if args.update:
        before = listed_prices(place.directory, place.boundary)
        after = {**before, **_requested(args, place, before, console)}
        write_dated(place, price_text(after), price_text(before) if before else "", console)
        return 0
    rows = _rows(place, args.region)
    if rows:
        console.result(table([("REGION", "INSTANCE TYPE", "PER HOUR", "SOURCE"), *rows]))
    else:
        console.say(f"no prices known; run `{UPDATE_PRICES}`")
    return 0


def _rows(place: Place, region: str | None) -> list[tuple[str, ...]]:
    try:
        prices = prices_of(place.directory, place.boundary)
    except MalformedConfig as malformed:
        raise rejected(malformed) from None
    rows: list[tuple[str, ...]] = [
        ("any", kind, f"USD {float(amount):.12g}", "smspec.toml") for kind, amount in sorted(prices.own.items())
    ]
    return rows + [
        (name, kind, f"{known.currency} {amount}", f"AWS, {known.as_of}")
        for name, known in sorted(prices.regions.items())
        for kind, amount in sorted(known.training.items())
        if region in (None, name) and kind not in prices.own
    ]


def _requested(
    args: argparse.Namespace, place: Place, known: Mapping[str, RegionPrices], console: Console
) -> dict[str, RegionPrices]:
    # Imported late: boto3 takes a second to import.
    from smspec.submission.aws_listing import listed_prices as request

    found = {}
    for region, listed in listed_by_region(args, place, known, console, "the AWS Price List API about", request):
        left_out = f"; ignored {listed.left_out} without one price per hour" if listed.left_out else ""
        console.remark(f"{region}: {count(len(listed.training), 'instance type')}{left_out}")
        found[region] = RegionPrices(as_of=today(), currency=listed.currency, training=listed.training)
    return found


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
    """Return the place of a file with prices or quotas. Raise `UsageError` for arguments that make no sense."""
    if args.profile and not args.update:
        raise UsageError("--profile requires --update")
    if args.region and not re.fullmatch(REGION, args.region):
        raise UsageError(f"--region: `{visible(args.region)}` is not the name of an AWS region")
    return place_in_repository(name)


def place_in_repository(name: str) -> Place:
    """Return the place of a file for the current directory."""
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
    from smspec.submission.aws_listing import regions_of, session_of
    from smspec.submission.client import AwsUnavailable

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
    write_whole(place.path, text)
    console.remark(visible(f"wrote {place.path}"))


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
