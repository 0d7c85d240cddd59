"""``smspec prices``: the prices of training instances, and their update."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from smspec.cli.console import Console
from smspec.cli.dated_file_command import (
    Place,
    add_update_arguments,
    count,
    listed_by_region,
    place_of,
    table,
    today,
    write_dated,
)
from smspec.organization import prices_of
from smspec.organization.dated_file import PRICES, UPDATE_PRICES, listed_prices, price_text
from smspec.organization.organization_config import MalformedConfig, rejected
from smspec.service.job_costs import RegionPrices

HELP = """\
Print the prices of training instances that smspec knows: those in the table [prices] of smspec.toml, and those in
smspec.prices.json.

With --update, request the prices of all training instances from the AWS Price List API, and write smspec.prices.json
next to smspec.toml, or else at the top of the repository. Requires `pricing:GetProducts`.

Exit status: 0 done; 3 no credentials, AWS rejects the request, or the file cannot be written."""


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
