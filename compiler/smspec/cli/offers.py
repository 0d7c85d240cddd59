"""``smspec offers``: the instance types that fit what a job needs, the cheapest first."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence

from smspec.cli.console import CommandRefused, Console, UsageError, table
from smspec.cli.parser import add_quiet_argument
from smspec.cli.prices import place_of
from smspec.organization import prices_of
from smspec.organization.dated_file import PRICES, UPDATE_PRICES, known_quotas
from smspec.organization.organization_config import MalformedConfig, rejected
from smspec.service.facts import Row, Table, lacks
from smspec.service.facts import table as facts_table
from smspec.service.job_costs import JobPrices, Price, PriceBook
from smspec.service.policy import Quotas, usage
from smspec.service.shapes import pinned_model
from smspec.source.frozen import dataclass

HELP = """\
Print the instance types for training that fit, the cheapest first, and `hosts` lines to paste.

With --gpus, --memory is that of each GPU; without it, that of the instance. Prices are those of smspec.toml and
smspec.prices.json, quotas those of smspec.quotas.json: `smspec prices --update` and `smspec quotas --update` get them
from AWS. Types that EC2 does not offer in a region are not listed for it; SageMaker may lack more. Uses no network.

Exit status: 0 done; 1 no type fits."""

_PASTED = 3
"""For how many types there are lines to paste."""

_LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """``price``: the lowest that is known, in ``region``, which is empty for a price of the team."""

    kind: str
    row: Row
    price: Price | None
    region: str

    @property
    def gpus(self) -> int:
        return int(self.row["gpus"] or 0)

    @property
    def nvme_gb(self) -> int:
        return int(self.row["nvme_gb"] or 0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_quiet_argument(parser)
    parser.add_argument("--gpus", type=int, metavar="N", help="at least so many GPUs in an instance")
    parser.add_argument(
        "--memory", metavar="SIZE", help="at least so much memory, such as 40GB: of each GPU with --gpus"
    )
    parser.add_argument("--region", metavar="R", help="only types, prices, and quotas of this region")
    parser.add_argument("--all", action="store_true", help="all types that fit (default: the first 20)")


def run(args: argparse.Namespace, console: Console) -> int:
    if args.gpus is None and args.memory is None:
        raise UsageError("offers: pass --gpus N, --memory SIZE, or both")
    if args.gpus is not None and args.gpus < 0:
        raise UsageError(f"--gpus: {args.gpus} is less than 0")
    memory = _size(args.memory) if args.memory is not None else 0
    args.update = args.profile = None
    place = place_of(args, PRICES)
    try:
        prices = prices_of(place.directory, place.boundary)
    except MalformedConfig as malformed:
        raise rejected(malformed) from None
    quotas = known_quotas(place.directory, place.boundary)
    found = sorted(_offers(args.gpus, memory, args.region, prices), key=_order)
    if not found:
        where = f" in {args.region}" if args.region else ""
        raise CommandRefused(f"no instance type for training has {_wanted(args)}{where}, as of {_instances().date}")
    shown = found if args.all else found[:_LISTED]
    console.result(_as_table(shown, args.region, quotas))
    console.result("\n" + "".join(_lines(shown[:_PASTED])))
    if len(shown) < len(found):
        console.remark(f"and {len(found) - len(shown)} more; --all lists them")
    if prices.is_empty:
        console.remark(f"prices are not known, so the smallest come first; run `{UPDATE_PRICES}`")
    console.remark(
        f"types as of {_instances().date}; regions are those of EC2, as of {facts_table('ec2_not_offered').date}"
    )
    return 0


def _size(text: str) -> int:
    """Return the MiB of a size; GB are as makers of GPUs count them, 10⁹ bytes, of which an A10G has 24."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?([GT])(i?)B", text)
    if match is None:
        raise UsageError(f"--memory: `{text}` is not a size such as 40GB or 1TiB")
    unit = (1 << 30 if match[3] else 10**9) * (1 if match[2] == "G" else 1 << 10 if match[3] else 10**3)
    return int(float(match[1]) * unit / (1 << 20))


def _instances() -> Table:
    return facts_table("instances")


def _offers(gpus: int | None, memory: int, region: str | None, prices: PriceBook) -> Iterator[Offer]:
    known = set(pinned_model().shapes["TrainingInstanceType"].enum)
    for row in _instances().rows():
        has = row["gpu_memory_mib"] if gpus else row["memory_mib"]
        fits = int(row["gpus"] or 0) >= (gpus or 0) and int(has or 0) >= memory
        if row["type"] in known and fits and not (region and lacks(region, row["type"])):
            price, place = _price(row["type"], region, prices)
            yield Offer(kind=row["type"], row=row, price=price, region=place)


def _price(kind: str, region: str | None, prices: PriceBook) -> tuple[Price | None, str]:
    """Return the lowest price in US dollars, else in any currency, and its region."""
    regions = [region] if region else [*prices.regions, None]
    listed = ((JobPrices(own=prices.own, listed=prices.regions.get(name or "")).price(kind), name) for name in regions)
    found = [(price, "" if kind in prices.own else name or "") for price, name in listed if price is not None]
    return min(found, key=lambda each: (each[0].currency != "USD", each[0].amount, each[1]), default=(None, ""))


def _order(offer: Offer) -> tuple[object, ...]:
    price = offer.price
    # A type whose size is not known is none of the smallest.
    known = offer.gpus, not offer.row["vcpu"], int(offer.row["vcpu"] or 0), int(offer.row["memory_mib"] or 0)
    return (
        price is None,
        price.currency != "USD" if price else False,
        price.amount if price else 0,
        *known,
        offer.kind,
    )


def _wanted(args: argparse.Namespace) -> str:
    gpus = f"{args.gpus} or more GPUs" if args.gpus else ""
    memory = f"{args.memory} of memory" if args.memory else ""
    return " with ".join(filter(None, (gpus, memory))) if gpus else memory


def _as_table(offers: Sequence[Offer], region: str | None, quotas: Quotas) -> str:
    """Return the table; columns about which nothing is known are not there."""
    head = ("INSTANCE TYPE", "DEVICES", "MEMORY", "VCPUS", "NVME", "PER HOUR", "QUOTA")
    rows = [head, *(_cells(offer, region, quotas) for offer in offers)]
    known = [column for column in zip(*rows, strict=True) if set(column[1:]) != {"-"}]
    return table([*zip(*known, strict=True)])


def _cells(offer: Offer, region: str | None, quotas: Quotas) -> tuple[str, ...]:
    row, price = offer.row, offer.price
    amount = f"{price.currency} {float(price.amount):.2f}" if price else "-"
    return (
        offer.kind,
        _devices(row),
        _gibibytes(row["memory_mib"]) or "-",
        row["vcpu"] or "-",
        f"{offer.nvme_gb:,}GB" if offer.nvme_gb else "-",
        f"{amount} {offer.region}" if offer.region and not region else amount,
        _quota(offer.kind, region or offer.region, quotas),
    )


def _devices(row: Row) -> str:
    if int(row["gpus"] or 0):
        return " ".join(filter(None, (row["gpus"], row["gpu"] or "GPU", _gibibytes(row["gpu_memory_mib"]))))
    return f"{row['neurons']} {row['neuron']}" if int(row["neurons"] or 0) else "-"


def _gibibytes(mebibytes: str) -> str:
    return f"{int(mebibytes) >> 10:,}GiB" if mebibytes else ""


def _quota(kind: str, region: str, quotas: Quotas) -> str:
    """Return the instances of a type that run at once, by account if there are several."""
    known = {account: listed[region].training for account, listed in quotas.accounts.items() if region in listed}
    values = {account: str(training.get(usage(kind, spot=False), 0)) for account, training in sorted(known.items())}
    if len(values) <= 1:
        return next(iter(values.values()), "-")
    return ", ".join(f"{value} in {account}" for account, value in values.items())


def _lines(offers: Iterable[Offer]) -> Iterator[str]:
    for offer in offers:
        volume = "" if offer.nvme_gb else ", volume: 50GB"  # SageMaker ignores it where there is local storage
        yield f"hosts: {{instance_type: {offer.kind}, count: 1{volume}}}\n"
