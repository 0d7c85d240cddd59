"""The registries of AWS: the account that publishes an image in each region, and the domain of the region.

Images that are published by the same accounts everywhere share a column of accounts.csv.
"""

from __future__ import annotations

import re
from functools import cache

from smspec.service.facts import Row, table

_NAME = "accounts"
_REGION, _DOMAIN = "region", "dns_suffix"


def as_of() -> str:
    """The end of a message about something that may have changed since."""
    return table(_NAME).as_of


def is_provider(account: str) -> bool:
    """Return whether AWS publishes images from an account, in any region."""
    return account in _providers()


def account(column: str, region: str) -> str:
    """Return the account that publishes the images of a column in a region; empty if it is not known."""
    row = _row(region)
    return row[column] if row else ""


def columns(provider: str, region: str) -> frozenset[str]:
    """Return the columns of the images that an account publishes in a region."""
    row = _row(region) or {}
    return frozenset(name for name, cell in row.items() if cell == provider and name not in (_REGION, _DOMAIN))


def accounts(of: frozenset[str]) -> frozenset[str]:
    """Return the accounts that publish the images of some columns, in all regions."""
    return frozenset(row[column] for row in _rows() for column in of if row[column])


def registry(column: str, region: str) -> str:
    """Return the host name of the registry for the images of a column in a region; empty if it is not known."""
    row = _row(region)
    if not row or not row[column]:
        return ""
    return f"{row[column]}.dkr.ecr.{region}.{row[_DOMAIN]}"


def regions(column: str) -> tuple[str, ...]:
    """Return the regions in which the images of a column are published."""
    return tuple(row[_REGION] for row in _rows() if row[column])


def all_regions() -> tuple[str, ...]:
    """Return the regions in which any image is published."""
    return tuple(row[_REGION] for row in _rows())


@cache
def _providers() -> frozenset[str]:
    # The accounts alone, because each job with an image in ECR needs them, and few need more.
    return frozenset(re.findall(r"\b[0-9]{12}\b", "\n".join(table(_NAME).lines)))


@cache
def _rows() -> tuple[Row, ...]:
    return table(_NAME).rows()


@cache
def _row(region: str) -> Row | None:
    return next(iter(table(_NAME).rows(region)), None)
