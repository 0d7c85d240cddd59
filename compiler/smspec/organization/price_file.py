"""``smspec.prices.json``: what AWS lists for training instances, by region.

It has all training instances of a region, not only those that specs use: a pull request with a different instance type
then has both prices, without credentials.
"""

from __future__ import annotations

from collections.abc import Mapping

from smspec.organization.dated_file import (
    DATE,
    REGION,
    Fault,
    dated_text,
    is_match,
    read_dated_file,
)
from smspec.service.prices import RegionPrices
from smspec.workspace.boundary import Boundary
from smspec.workspace.boundary_search import DATED_FILES

NAME = DATED_FILES[0]
COMMAND = "smspec prices --update"
INSTANCE_TYPE = r"ml\.[a-z0-9-]{1,32}\.[a-z0-9-]{1,32}"
AMOUNT = r"(?:0|[1-9][0-9]{0,6})(?:\.[0-9]{1,12})?"
CURRENCY = r"[A-Z]{3}"

_MEMBER = "regions"


def listed_prices(directory: str, boundary: Boundary) -> dict[str, RegionPrices]:
    """Return the prices in the file of a directory itself; empty if there is none. Raise as `read_dated_file`."""
    regions = read_dated_file(directory, NAME, boundary, command=COMMAND, member=_MEMBER, fault_of=_fault)
    return {region: RegionPrices(**entry) for region, entry in regions.items()}


def price_text(regions: Mapping[str, RegionPrices]) -> str:
    """Return the text of the file."""
    return dated_text(
        _MEMBER,
        {
            name: {
                "as_of": known.as_of,
                "currency": known.currency,
                "training": dict(sorted(known.training.items())),
            }
            for name, known in sorted(regions.items())
        },
    )


def _fault(regions: dict[str, object]) -> Fault | None:
    """Return the first fault in the prices; None if there is none."""
    for region, entry in regions.items():
        at = (_MEMBER, region)
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
