"""Instance prices per hour, as far as they are known: those that a team sets, and those that AWS lists for a region."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from smspec.service.request import Request
from smspec.source.frozen import dataclass, field

if TYPE_CHECKING:
    from fractions import Fraction

DOLLARS = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionPrices:
    """What AWS lists for training in a region: instance type → price as text. ``as_of``: the date of the request."""

    as_of: str
    currency: str
    training: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """``amount`` per hour. ``as_of``: the date of a listed price; empty for one that a team sets."""

    amount: Fraction
    currency: str = DOLLARS
    as_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPrices:
    """The prices for one job. ``own``, in US dollars, take precedence over ``listed``."""

    own: Mapping[str, Fraction]
    listed: RegionPrices | None

    def price(self, instance_type: str) -> Price | None:
        """Return the price of an instance type; None if it is unknown."""
        if instance_type in self.own:
            return Price(amount=self.own[instance_type])
        text = self.listed.training.get(instance_type) if self.listed is not None else None
        if text is None or self.listed is None:
            return None
        from fractions import (
            Fraction,
        )  # imported late: it takes as long as many checks, and few repositories have prices

        return Price(amount=Fraction(text), currency=self.listed.currency, as_of=self.listed.as_of)

    def dollars(self, instance_type: str) -> Fraction | None:
        """Return the price of an instance type in US dollars; None if it has none."""
        known = self.price(instance_type)
        return known.amount if known is not None and known.currency == DOLLARS else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBook:
    """All prices of a repository. ``own``: instance type → US dollars per hour; ``regions``: what AWS lists."""

    own: Mapping[str, Fraction] = field(default_factory=dict)
    regions: Mapping[str, RegionPrices] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.own and not self.regions

    def of(self, payload: dict[str, object], region: str | None) -> JobPrices:
        """Return the prices for a request; without a known region, the region of its image in ECR counts."""
        if region is None and self.regions:
            image = Request(payload=payload).image
            region = None if image is None else image.region
        return JobPrices(own=self.own, listed=None if region is None else self.regions.get(region))
