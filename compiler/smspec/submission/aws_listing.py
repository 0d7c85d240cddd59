"""What AWS lists for a region, page by page: the prices of training instances, and the quotas of an account.

Prices are from the AWS Price List API, quotas from Service Quotas; errors are sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from smspec.service.policy import is_about_training
from smspec.source.frozen import dataclass
from smspec.submission.client import DENIED, AwsUnavailable
from smspec.wire.aws import AwsRefused, AwsSession, responses
from smspec.wire.fault import BadResponse, WireFault
from smspec.wire.json_body import json_body

_MOST_PAGES = 1000
PRICES_ACTION = "pricing:GetProducts"
_INSTANCE_TYPE = r"ml\.[a-z0-9-]{1,32}\.[a-z0-9]{1,32}"
_LABEL = rf"({_INSTANCE_TYPE})-(\w+)"
_AMOUNT = r"[0-9]{1,7}(?:\.[0-9]{1,12})?"
_CURRENCIES = ("USD", "CNY")
_HOURS = ("Hrs", "Hours")
_TRAINING = "Training"
_ON_THE_CONTINENT = {"ap": "ap-south-1", "eu": "eu-central-1", "cn": "cn-northwest-1"}
_ELSEWHERE = "us-east-1"
APPLIED_QUOTAS = "servicequotas:ListServiceQuotas"
DEFAULT_QUOTAS = "servicequotas:ListAWSDefaultServiceQuotas"
_QUOTA_ARN = r"arn:[a-z0-9-]+:servicequotas:[a-z0-9-]+:([0-9]{12}):.*"
_HIGHEST_QUOTA = 10**12


def session_of(profile: str | None) -> AwsSession:
    """Return a session with the credentials of a profile. Raise `AwsUnavailable`."""
    try:
        with responses("call AWS"):
            return AwsSession(profile)
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None


def regions_of(session: AwsSession, regions: tuple[str, ...]) -> tuple[str, ...]:
    """Return regions, or if there are none the region of a session. Raise `AwsUnavailable` if it has none either."""
    own = session.session.region_name
    if not regions and not own:
        raise AwsUnavailable("no AWS region; pass `--region`, or set `region` in a spec")
    return regions or (str(own),)


def client_of(session: AwsSession, service: str, region: str) -> Any:
    """Return the client of a service in a region. Raise `AwsUnavailable`."""
    try:
        with responses(f"call {service} in {region}"):
            return session.client(service, region_name=region)
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None


def listed(what: str, action: str, member: str, call: Callable[..., dict[str, Any]]) -> Iterator[Any]:
    """Yield the items in ``member`` of all pages of a call.

    ``action`` is what IAM calls it. Raise `AwsUnavailable`, for a token that repeats too.
    """
    token: dict[str, str] = {}
    seen: set[str] = set()
    for _ in range(_MOST_PAGES):
        try:
            with responses(f"ask AWS for {what}"):
                page = call(**token)
                items, next_token = list(page.get(member) or ()), page.get("NextToken")
        except AwsRefused as refusal:
            if refusal.code in DENIED:
                raise AwsUnavailable(f"AWS denies access to {what}; allow `{action}` in an IAM policy") from None
            raise AwsUnavailable(f"AWS rejects the request for {what}: {refusal}") from None
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None
        yield from items
        if not next_token:
            return
        if next_token in seen:
            break
        seen.add(next_token)
        token = {"NextToken": next_token}
    raise AwsUnavailable(f"AWS lists {what} without an end")


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
        PRICES_ACTION,
        "PriceList",
        lambda **token: client.get_products(
            ServiceCode="AmazonSageMaker", Filters=filters, FormatVersion="aws_v1", MaxResults=100, **token
        ),
    )
    for item in pages:
        product = _product(item)
        kind = _trained_on(product, region)
        if kind is None:
            continue
        price = _hourly_price(product)
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


def _product(item: object) -> object:
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


def _hourly_price(product: object) -> tuple[str, str] | None:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedQuotas:
    """``training``: name of a quota → value. ``left_out``: quotas for training without a usable value."""

    account: str
    training: dict[str, int]
    left_out: int


def listed_quotas(session: AwsSession, region: str) -> ListedQuotas:
    """Return the quotas of the account of the credentials in a region. Raise `AwsUnavailable`."""
    client = client_of(session, "service-quotas", region)
    what = f"the quotas in {region}"
    # Without a value of the account, the default applies, and only the second call lists it.
    applied = listed(what, APPLIED_QUOTAS, "Quotas", lambda **token: client.list_service_quotas(**_of_sagemaker(token)))
    own = [quota for quota in applied if isinstance(quota, dict)]
    accounts = {found[1] for quota in own if (found := re.fullmatch(_QUOTA_ARN, str(quota.get("QuotaArn"))))}
    if len(accounts) != 1:
        raise AwsUnavailable(f"the response of Service Quotas in {region} does not name the account")
    defaults = listed(
        what, DEFAULT_QUOTAS, "Quotas", lambda **token: client.list_aws_default_service_quotas(**_of_sagemaker(token))
    )
    training: dict[str, int] = {}
    left_out: set[str] = set()
    for quota in (*(quota for quota in defaults if isinstance(quota, dict)), *own):
        name, value = str(quota.get("QuotaName")), _quota_value(quota)
        if is_about_training(name) and value is None:
            left_out.add(name)
        elif is_about_training(name) and value is not None:
            training[name] = value
    if not training:
        raise AwsUnavailable(f"Service Quotas lists no quota for training jobs in {region}")
    for name in left_out:
        training.pop(name, None)
    return ListedQuotas(account=accounts.pop(), training=training, left_out=len(left_out))


def _of_sagemaker(token: dict[str, str]) -> dict[str, Any]:
    return {"ServiceCode": "sagemaker", "MaxResults": 100, **token}


def _quota_value(quota: dict[str, Any]) -> int | None:
    value = quota.get("Value")
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _HIGHEST_QUOTA:
        return None
    return int(value) if value == int(value) else None
