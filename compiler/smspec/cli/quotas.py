"""``smspec quotas``: the quotas of accounts for training jobs, and their update."""

from __future__ import annotations

import argparse

from smspec.cli.console import Console, table
from smspec.cli.prices import Place, add_update_arguments, listed_by_region, place_of, today, write_dated
from smspec.diagnostics import count
from smspec.organization.dated_file import QUOTAS, UPDATE_QUOTAS, known_quotas, quota_text
from smspec.service.policy import Quotas, RegionQuotas

HELP = """\
Print the quotas for training jobs that smspec knows, from smspec.quotas.json.

With --update, request the quotas of the account from Service Quotas, and write smspec.quotas.json next to smspec.toml,
or else at the top of the repository. Other accounts in the file do not change. Requires
`servicequotas:ListServiceQuotas` and `servicequotas:ListAWSDefaultServiceQuotas`.

Exit status: 0 done; 3 no credentials, AWS rejects the request, or the file cannot be written."""

_Accounts = dict[str, dict[str, RegionQuotas]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_update_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    place = place_of(args, QUOTAS)
    before = known_quotas(place.directory, place.boundary)
    if args.update:
        after = _requested(args, place, before, console)
        write_dated(place, quota_text(after), quota_text(before.accounts) if before.accounts else "", console)
        return 0
    rows = _rows(before, args.region)
    if rows:
        console.result(table([("ACCOUNT", "REGION", "QUOTA", "VALUE", "AS OF"), *rows]))
    else:
        console.say(f"no quotas known; run `{UPDATE_QUOTAS}`")
    return 0


def _rows(quotas: Quotas, region: str | None) -> list[tuple[str, ...]]:
    return [
        (account, name, quota, str(value), known.as_of)
        for account, regions in sorted(quotas.accounts.items())
        for name, known in sorted(regions.items())
        for quota, value in sorted(known.training.items())
        if region in (None, name)
    ]


def _requested(args: argparse.Namespace, place: Place, before: Quotas, console: Console) -> _Accounts:
    """Return the quotas in all regions, added to those before."""
    # Imported late: boto3 takes a second to import.
    from smspec.submission.aws_listing import listed_quotas

    accounts: _Accounts = {account: dict(regions) for account, regions in before.accounts.items()}
    known = [region for regions in accounts.values() for region in regions]
    for region, listed in listed_by_region(args, place, known, console, "Service Quotas in", listed_quotas):
        left_out = f"; ignored {listed.left_out} without a usable value" if listed.left_out else ""
        console.remark(f"{listed.account} in {region}: {count(len(listed.training), 'quota')}{left_out}")
        accounts.setdefault(listed.account, {})[region] = RegionQuotas(as_of=today(), training=listed.training)
    return accounts
