"""The prices of training instances in a region, from the AWS Price List API."""

from __future__ import annotations

import re
from decimal import Decimal

from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import AwsUnavailable
from smspec.submission.aws_listing import client_of, listed
from smspec.wire.aws import AwsSession
from smspec.wire.fault import BadResponse
from smspec.wire.json_body import json_body

ACTION = "pricing:GetProducts"

_INSTANCE_TYPE = r"ml\.[a-z0-9-]{1,32}\.[a-z0-9]{1,32}"
_LABEL = rf"({_INSTANCE_TYPE})-(\w+)"
_AMOUNT = r"[0-9]{1,7}(?:\.[0-9]{1,12})?"
_CURRENCIES = ("USD", "CNY")
_HOURS = ("Hrs", "Hours")
_TRAINING = "Training"
_ON_THE_CONTINENT = {"ap": "ap-south-1", "eu": "eu-central-1", "cn": "cn-northwest-1"}
_ELSEWHERE = "us-east-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPrices:
    """``training``: instance type → price per hour as text. ``left_out``: rows that fit no instance type."""

    currency: str
    training: dict[str, str]
    left_out: int


def listed_prices(session: AwsSession, region: str) -> ListedPrices:
    """Return the on-demand prices of training instances in a region. Raise `AwsUnavailable` if there are none."""
    client = client_of(session, "pricing", _ON_THE_CONTINENT.get(region.partition("-")[0], _ELSEWHERE))
    filters = [
        {"Type": "TERM_MATCH", "Field": name, "Value": value}
        for name, value in (("regionCode", region), ("productFamily", "ML Instance"))
    ]
    found: dict[str, set[tuple[str, str]]] = {}
    left_out = 0
    pages = listed(
        f"the prices in {region}",
        ACTION,
        "PriceList",
        lambda **token: client.get_products(
            ServiceCode="AmazonSageMaker", Filters=filters, FormatVersion="aws_v1", MaxResults=100, **token
        ),
    )
    for item in pages:
        product = _parsed(item)
        kind = _trained_on(product, region)
        if kind is None:
            continue
        price = _hourly(product)
        left_out += price is None
        if price is not None:
            found.setdefault(kind, set()).add(price)
    certain = {kind: next(iter(prices)) for kind, prices in found.items() if len(prices) == 1}
    left_out += len(found) - len(certain)
    currencies = {currency for currency, _ in certain.values()}
    if len(currencies) != 1:
        raise AwsUnavailable(f"the Price List API of AWS has no prices of training instances in {region}")
    return ListedPrices(
        currency=currencies.pop(), training={kind: amount for kind, (_, amount) in certain.items()}, left_out=left_out
    )


def _parsed(item: object) -> object:
    """Return a product: the API sends each as JSON in a string."""
    try:
        return json_body(item.encode("utf-8", "replace")) if isinstance(item, str) else item
    except BadResponse:
        return None


def _trained_on(product: object, region: str) -> str | None:
    """Return the instance type that a product is the training on; None for other products."""
    attributes = _object(_object(product, "product"), "attributes")
    if attributes.get("regionCode") != region or attributes.get("locationType", "AWS Region") != "AWS Region":
        return None
    # Products have a label, `ml.m5.large-Training`, or its parts as attributes, or both.
    label = re.fullmatch(_LABEL, str(attributes.get("instanceType", "")))
    usage = (attributes.get("platoinstancetype"), label and label[2], attributes.get("component"))
    names = (attributes.get("instanceName"), label and label[1])
    is_training = next((str(word) for word in usage if word), "") == _TRAINING
    name = next((str(name) for name in names if name), "")
    return name if is_training and re.fullmatch(_INSTANCE_TYPE, name) else None


def _hourly(product: object) -> tuple[str, str] | None:
    """Return the currency and the price of an hour on demand; None unless there is exactly one price above 0."""
    terms = [*_object(_object(product, "terms"), "OnDemand").values()]
    dimensions = [dimension for term in terms for dimension in _object(term, "priceDimensions").values()]
    if len(dimensions) != 1 or _object(dimensions[0]).get("unit") not in _HOURS:
        return None
    prices = _object(dimensions[0], "pricePerUnit")
    known = [(currency, str(prices[currency])) for currency in _CURRENCIES if currency in prices]
    if len(known) != 1 or not re.fullmatch(_AMOUNT, known[0][1]):
        return None
    currency, amount = known[0]
    exact = Decimal(amount)
    return (currency, f"{exact.normalize():f}") if exact else None


def _object(value: object, name: str = "") -> dict[str, object]:
    """Return an object, or its member; empty if there is none."""
    found = value.get(name) if name and isinstance(value, dict) else value if not name else None
    return found if isinstance(found, dict) else {}
