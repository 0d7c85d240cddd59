"""Instance prices in smspec.toml: ``[prices]``, instance type = US dollars per hour."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from smspec.organization.organization_config import MalformedConfig, OrganizationConfig

TABLE = "prices"
_HIGHEST = 1_000_000
_MOST_DECIMALS = 30


def price_list(file: OrganizationConfig | None) -> dict[str, Fraction]:
    """Return the price per hour by instance type; empty without a file. Raise `MalformedConfig`."""
    if file is None:
        return {}
    return {name: _price(name, value, file.path) for name, value in file.table(TABLE).items()}


def _price(name: str, value: object, path: str) -> Fraction:
    price = Decimal(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
    if price is None or not price.is_finite() or not 0 <= price <= _HIGHEST or price.adjusted() < -_MOST_DECIMALS:
        help = f'write US dollars for an hour: `"{name}" = 1.53`'
        if isinstance(value, dict):
            help = f'a name with dots stands in quotes: `"{name}.{next(iter(value), "…")}" = 1.53`'
        raise MalformedConfig(path, f"the price of `{name}` is not a number of dollars; {help}")
    return Fraction(price)
