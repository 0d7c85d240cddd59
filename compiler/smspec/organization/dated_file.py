"""Facts about AWS in files at the top of a repository: prices by region, and quotas by account and region.

Commands write ``smspec.prices.json``, ``smspec.quotas.json``, and ``smspec.facts.json``, which `newer_facts` reads:
dated, sorted, an entry a line. Prices of the organization itself are in ``[prices]`` of smspec.toml: instance type = US
dollars per hour.

The prices are those of all training instances of a region, not only those that specs use: a pull request with a
different instance type then has both prices, without credentials. The date of the quotas is in the findings: a check
may not depend on the clock, so the age of the file is not judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from smspec.diagnostics import InvalidInput, Rule, file_at_fault, placed
from smspec.organization.organization_config import MalformedConfig, OrganizationConfig
from smspec.service.job_costs import RegionPrices
from smspec.service.policy import Quotas, RegionQuotas
from smspec.source import Path
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import DATED_FILES, file_in

MALFORMED = Rule("SM752", "malformed prices, quotas, or facts file")

DATE = r"2[0-9]{3}-[0-9]{2}-[0-9]{2}"
REGION = r"[a-z]{2,5}(?:-[a-z]{1,16}){1,3}-[0-9]{1,2}"
_LARGEST = 8 << 20
_VERSION = 1

Fault = tuple[Path, str]
"""The path of an invalid value, and what is wrong with it."""

PRICES = DATED_FILES[0]
UPDATE_PRICES = "smspec prices --update"
INSTANCE_TYPE = r"ml\.[a-z0-9-]{1,32}\.[a-z0-9-]{1,32}"
AMOUNT = r"(?:0|[1-9][0-9]{0,6})(?:\.[0-9]{1,12})?"
CURRENCY = r"[A-Z]{3}"

_REGIONS = "regions"

QUOTAS = DATED_FILES[1]
UPDATE_QUOTAS = "smspec quotas --update"
FACTS = DATED_FILES[2]
ACCOUNT = r"[0-9]{12}"

_ACCOUNTS = "accounts"

PRICE_TABLE = "prices"
_HIGHEST_PRICE = 1_000_000
_MOST_DECIMALS = 30


def read_dated_file(
    directory: str,
    name: str,
    boundary: Boundary,
    *,
    command: str,
    member: str,
    fault_of: Callable[[dict[str, object]], Fault | None],
) -> dict[str, Any]:
    """Return the ``member`` of a file in a directory itself; empty if there is no file.

    ``command`` writes the file, and ``fault_of`` returns the first fault in the member. Raise `InvalidInput`, with the
    position of the fault; OSError if the file is unreadable.
    """
    path = file_in(directory, name)
    if path is None:
        return {}
    help = f"restore the committed file, or remove it and run `{command}`"
    try:
        content = boundary.read_named(path, _LARGEST)
    except FileNotRead as unread:
        raise file_at_fault(path, MALFORMED.at((), str(unread), help=help)) from None
    if len(content) > _LARGEST:
        raise file_at_fault(path, MALFORMED.at((), f"`{path}` has more than {_LARGEST >> 20} MiB", help=help))
    try:
        data = json.loads(content, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        fault = (), f"`{path}` is not valid JSON"
        # The only other ValueError: Python converts no integer of thousands of digits.
        raise _located(path, content, fault, help, is_number=type(error) is ValueError) from None
    entries = data.get(member) if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(entries, dict):
        raise _located(path, content, ((), f"{name} has no `{member}`"), help)
    if data.get("version") != _VERSION:
        what = f"`version` is not {_VERSION}, the version that this smspec reads"
        raise _located(path, content, (("version",), what), help)
    invalid = fault_of(entries)
    if invalid is not None:
        raise _located(path, content, invalid, help)
    return entries


def dated_text(member: str, entries: dict[str, object]) -> str:
    """Return the text of a file: reproducible, and a change of one entry changes one line."""
    return json.dumps({"version": _VERSION, member: entries}, indent=2, ensure_ascii=False) + "\n"


def is_match(pattern: str, value: object) -> bool:
    """Return whether a value is a string that a pattern matches as a whole."""
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise json.JSONDecodeError("a member twice", "", 0)
    return found


def _located(path: str, content: bytes, fault: Fault, help: str, *, is_number: bool = False) -> InvalidInput:
    """Return the fault at its line. A file that is not JSON has its own; ``is_number``: a number that is too long."""
    # Imported late: it takes longer than the standard library, and these files are seldom malformed.
    from smspec.service.json_parser import decode_json_bytes, read_json
    from smspec.service.json_scanner import BEYOND_THE_LIMITS

    at, message = fault
    try:
        document = read_json(decode_json_bytes(path, content))
    except InvalidInput as rejected:
        if not is_number and all(each.code == BEYOND_THE_LIMITS.code for each in rejected.diagnostics):
            # Larger than a request may be: the fault has no position then.
            return file_at_fault(path, MALFORMED.at((), message, help=help))
        return rejected
    return InvalidInput(placed([MALFORMED.at(at, message, help=help)], document), document.texts)


def listed_prices(directory: str, boundary: Boundary) -> dict[str, RegionPrices]:
    """Return the prices in the file of a directory itself; empty if there is none. Raise as `read_dated_file`."""
    regions = read_dated_file(
        directory, PRICES, boundary, command=UPDATE_PRICES, member=_REGIONS, fault_of=_price_fault
    )
    return {region: RegionPrices(**entry) for region, entry in regions.items()}


def price_text(regions: Mapping[str, RegionPrices]) -> str:
    """Return the text of the file."""
    return dated_text(
        _REGIONS,
        {
            name: {"as_of": known.as_of, "currency": known.currency, "training": dict(sorted(known.training.items()))}
            for name, known in sorted(regions.items())
        },
    )


def _price_fault(regions: dict[str, object]) -> Fault | None:
    """Return the first fault in the prices; None if there is none."""
    for region, entry in regions.items():
        at = (_REGIONS, region)
        if not is_match(REGION, region) or not isinstance(entry, dict):
            return at, "not the prices of a region"
        if set(entry) != {"as_of", "currency", "training"} or not isinstance(entry["training"], dict):
            return at, f"the prices of `{region}` are not `as_of`, `currency`, and `training`"
        for name, pattern, called in (("as_of", DATE, "a date"), ("currency", CURRENCY, "a currency")):
            if not is_match(pattern, entry[name]):
                return (*at, name), f"`{name}` is not {called}"
        for kind, price in entry["training"].items():
            if not is_match(AMOUNT, price) or not is_match(INSTANCE_TYPE, kind):
                return (*at, "training", kind), f'the price of `{kind}` is not a number in quotes, such as `"1.408"`'
    return None


def known_quotas(directory: str, boundary: Boundary) -> Quotas:
    """Return the quotas in the file of a directory itself; empty if there is none. Raise as `read_dated_file`."""
    accounts = read_dated_file(
        directory, QUOTAS, boundary, command=UPDATE_QUOTAS, member=_ACCOUNTS, fault_of=_quota_fault
    )
    return Quotas(
        accounts={
            account: {region: RegionQuotas(**entry) for region, entry in regions.items()}
            for account, regions in accounts.items()
        }
    )


def quota_text(accounts: Mapping[str, Mapping[str, RegionQuotas]]) -> str:
    """Return the text of the file."""
    return dated_text(
        _ACCOUNTS,
        {
            account: {
                region: {"as_of": known.as_of, "training": dict(sorted(known.training.items()))}
                for region, known in sorted(regions.items())
            }
            for account, regions in sorted(accounts.items())
        },
    )


def _quota_fault(accounts: dict[str, object]) -> Fault | None:
    """Return the first fault in the quotas; None if there is none."""
    for account, regions in accounts.items():
        if not is_match(ACCOUNT, account) or not isinstance(regions, dict):
            return (_ACCOUNTS, account), "not the quotas of an account"
        for region, entry in regions.items():
            fault = _fault_of_region((_ACCOUNTS, account, region), region, entry)
            if fault is not None:
                return fault
    return None


def _fault_of_region(at: Path, region: str, entry: object) -> Fault | None:
    if not is_match(REGION, region) or not isinstance(entry, dict):
        return at, "not the quotas of a region"
    if set(entry) != {"as_of", "training"} or not isinstance(entry["training"], dict):
        return at, f"the quotas of `{region}` are not `as_of` and `training`"
    if not is_match(DATE, entry["as_of"]):
        return (*at, "as_of"), "`as_of` is not a date"
    for name, value in entry["training"].items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            return (*at, "training", name), "the quota is not an integer of 0 or more"
    return None


def price_list(file: OrganizationConfig | None) -> dict[str, Fraction]:
    """Return the price per hour by instance type; empty without a file. Raise `MalformedConfig`."""
    if file is None:
        return {}
    return {name: _price(name, value, file.path) for name, value in file.table(PRICE_TABLE).items()}


def _price(name: str, value: object, path: str) -> Fraction:
    price = Decimal(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
    if price is None or not price.is_finite() or not 0 <= price <= _HIGHEST_PRICE or price.adjusted() < -_MOST_DECIMALS:
        help = f'write US dollars for an hour: `"{name}" = 1.53`'
        if isinstance(value, dict):
            help = f'a name with dots stands in quotes: `"{name}.{next(iter(value), "…")}" = 1.53`'
        raise MalformedConfig(path, f"the price of `{name}` is not a number of dollars; {help}")
    return Fraction(price)
