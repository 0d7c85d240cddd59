"""What a job can cost: how long it may use instances, their prices, and both in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from smspec.diagnostics.quoting import one_of
from smspec.service.request import Request
from smspec.service.shapes import items, member, number, structure
from smspec.source.frozen import dataclass, field

if TYPE_CHECKING:
    from fractions import Fraction

_MOST = 10**12
"""Seconds or instances; no real job has more."""

DOLLARS = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTime:
    """``seconds`` of instances, by type. ``counted`` describes what is included besides the runtime."""

    seconds: dict[str, int]
    counted: tuple[str, ...]


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
        # Imported late: it takes as long as many checks, and few repositories have prices.
        from fractions import Fraction

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


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCost:
    """``seconds`` of all instances together. ``amounts``: currency → the cost of the types with a price.

    ``unpriced``: the types without a price, if others have one. ``as_of``: the date of the oldest listed price.
    """

    seconds: int
    amounts: Mapping[str, Fraction] = field(default_factory=dict)
    unpriced: tuple[str, ...] = ()
    as_of: str = ""

    @property
    def usd(self) -> float | None:
        """The cost in US dollars; None if a type has no price, or one in another currency."""
        return float(self.amounts["USD"]) if set(self.amounts) == {"USD"} and not self.unpriced else None


def instance_time(payload: dict[str, object], attempts: int | None = None) -> InstanceTime | None:
    """Return the longest time of a request; None if it has no instances, or an invalid number.

    ``attempts``: how often a queue starts the job at most, each time with all its limits; None without a queue.
    """
    request = Request(payload=payload)
    hosts = instance_counts(payload)
    seconds = request.max_runtime
    if not hosts or seconds is None:
        return None
    retries = number(payload, "RetryStrategy", "MaximumRetryAttempts")
    numbers = (seconds, request.max_wait, request.keep_alive, retries, attempts, *hosts.values())
    if max(abs(known) for known in numbers if known is not None) > _MOST:
        return None
    counted: list[str] = []
    if request.uses_spot and request.max_wait is not None:
        seconds = request.max_wait
        counted.append("with spot: the wait for capacity is in it")
    if request.keep_alive:
        seconds += request.keep_alive
        counted.append(f"{two_decimals(request.keep_alive / 60)} min of keep-alive are in it")
    if retries:
        # API shape StoppingCondition: the limit is for all attempts in total.
        counted.append(f"{retries} {'retry' if retries == 1 else 'retries'} within the same limit")
    if attempts is not None and attempts > 1:
        seconds *= attempts
        counted.append(f"{attempts} attempts of the queue")
    rules = [*request.rule_instances]
    if rules:
        # Debugger guide: a rule runs as a processing job for as long as the training job.
        counted.append(f"{len(rules)} {'rule' if len(rules) == 1 else 'rules'} on separate instances")
        for _, kind in rules:
            hosts[kind] = hosts.get(kind, 0) + 1
    return InstanceTime(seconds={kind: count * seconds for kind, count in hosts.items()}, counted=tuple(counted))


def help_to_shorten(request: Request) -> str:
    """Return how to reduce the time, in the words of a spec or of a request."""
    limit = request.word("MaxRuntimeInSeconds", "stopping.max_runtime")
    count = request.word("InstanceCount", "hosts.count")
    return f"reduce `{limit}` or `{count}`, or ask the policy owner"


def two_decimals(number: float) -> str:
    """Return a number with at most two decimal places."""
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def instance_hours(hours: float) -> str:
    """Return a number of hours with its unit."""
    return f"{two_decimals(hours)} instance {'hour' if hours == 1 else 'hours'}"


def instance_counts(payload: dict[str, object]) -> dict[str, int]:
    """Return the number of instances of each type; in a description with preferences, of what SageMaker selected."""
    config = structure(payload, "ResourceConfig")
    found: dict[str, int] = {}
    for group in items(config, "InstanceGroups") or [config]:
        kind, count = member(group, "InstanceType"), number(group, "InstanceCount")
        if not kind:
            kind, count = member(group, "SelectedInstanceType"), number(group, "SelectedInstanceCount")
        if isinstance(kind, str) and count is not None:
            found[kind] = found.get(kind, 0) + count
    return found


def choices(payload: dict[str, object]) -> list[dict[str, object]]:
    """Return a request for each of the instances that it prefers, of which SageMaker chooses; else the request."""
    config = structure(payload, "ResourceConfig")
    preferred = [structure(each) for each in items(config, "InstancePreferences")]
    if not preferred or instance_counts(payload):
        return [payload]
    shared = {name: value for name, value in config.items() if name != "InstancePreferences"}
    return [{**payload, "ResourceConfig": {**shared, **each}} for each in preferred]


def hosts_text(payload: dict[str, object]) -> str:
    """Return the instances of a request, such as ``2 × ml.g5.xlarge, spot``."""
    hosts = " + ".join(f"{count} × {kind}" for kind, count in instance_counts(payload).items())
    return f"{hosts or 'hosts that SageMaker chooses'}{', spot' if Request(payload=payload).uses_spot else ''}"


def job_cost(
    payload: dict[str, object], prices: PriceBook, region: str | None, attempts: int | None = None
) -> JobCost | None:
    """Return the ceiling of a request; None if it has no instances, or an invalid number."""
    return highest(_cost(each, prices, region, attempts) for each in choices(payload))


def _cost(payload: dict[str, object], prices: PriceBook, region: str | None, attempts: int | None) -> JobCost | None:
    time = instance_time(payload, attempts)
    if time is None:
        return None
    seconds = sum(time.seconds.values())
    if prices.is_empty:
        return JobCost(seconds=seconds)
    of_job = prices.of(payload, region)
    amounts: dict[str, Fraction] = {}
    unpriced, dates = [], []
    for kind, used in time.seconds.items():
        known = of_job.price(kind)
        if known is None:
            unpriced.append(kind)
            continue
        amounts[known.currency] = amounts.get(known.currency, 0) + known.amount * used / 3600
        dates += [known.as_of] if known.as_of else []
    return JobCost(seconds=seconds, amounts=amounts, unpriced=tuple(unpriced), as_of=min(dates, default=""))


def highest(costs: Iterable[JobCost | None]) -> JobCost | None:
    """Return the ceiling of jobs of which one is to run; None if none of them has one."""
    known = [cost for cost in costs if cost is not None]
    if not known:
        return None
    amounts: dict[str, Fraction] = {}
    for cost in known:
        for currency, amount in cost.amounts.items():
            amounts[currency] = max(amount, amounts.get(currency, amount))
    return JobCost(
        seconds=max(cost.seconds for cost in known),
        amounts=amounts,
        unpriced=tuple(dict.fromkeys(kind for cost in known for kind in cost.unpriced)),
        as_of=min((cost.as_of for cost in known if cost.as_of), default=""),
    )


def cost_line(costs: Iterable[JobCost]) -> str:
    """Return the ceiling of some jobs; empty if there are none."""
    known = list(costs)
    if not known:
        return ""
    hours = instance_hours(sum(cost.seconds for cost in known) / 3600)
    currencies = sorted({currency for cost in known for currency in cost.amounts}, reverse=True)
    money = " + ".join(
        _money(currency, float(sum(cost.amounts.get(currency, 0) for cost in known))) for currency in currencies
    )
    unpriced = sorted({kind for cost in known for kind in cost.unpriced})
    without = f" without {one_of(unpriced)}, which has no price" if unpriced else ""
    as_of = min((cost.as_of for cost in known if cost.as_of), default="")
    dated = f" (prices of {as_of})" if as_of else ""
    jobs = "" if len(known) == 1 else f" of {len(known)} jobs"
    return f"cost ceiling{jobs}: {hours}{', ' if money else ''}{money}{without}{dated}"


def _money(currency: str, amount: float) -> str:
    return f"${amount:,.2f}" if currency == "USD" else f"{currency} {amount:,.2f}"
