"""The files of prices and quotas in several directories: an inner one makes nothing cheaper, and grants nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from smspec.diagnostics import Diagnostic, InvalidInput, Note
from smspec.diagnostics.parse_errors import MOST
from smspec.organization.organization_config import OrganizationConfig
from smspec.organization.policy_layers import LOOSENED_POLICY
from smspec.organization.price_file import NAME as PRICES
from smspec.organization.price_list import TABLE, price_list
from smspec.organization.quota_file import NAME as QUOTAS
from smspec.organization.toml_faults import Places
from smspec.service.job_costs import PriceBook, RegionPrices
from smspec.service.policy import RUNTIME, Quotas, RegionQuotas
from smspec.service.request_rules.stopping import DEFAULT_QUOTA
from smspec.source import Path, SourceText, Span, dotted
from smspec.source.frozen import dataclass
from smspec.workspace.boundary import Boundary, FileNotRead

_LARGEST = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedLayer:
    """The facts in a directory: prices in its policy, ``file``, and those in its files of prices and quotas."""

    directory: str
    boundary: Boundary
    file: OrganizationConfig | None
    regions: Mapping[str, RegionPrices]
    quotas: Quotas

    @property
    def own(self) -> Mapping[str, Fraction]:
        return price_list(self.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    """A price or a quota: the file that has it, its path in that file, and its value. No file: AWS's default."""

    layer: DatedLayer | None
    name: str
    path: Path
    value: str


def combined_prices(layers: Sequence[DatedLayer]) -> list[PriceBook]:
    """Return the prices as of each layer, the outermost first. Raise `InvalidInput` where an inner file is cheaper."""
    own: dict[str, Fraction] = {}
    regions: dict[str, RegionPrices] = {}
    books: list[PriceBook] = []
    _reject([pair for number in range(1, len(layers)) for pair in _cheaper(layers[number], layers[:number])])
    for layer in layers:
        own.update({name: max(price, own.get(name, price)) for name, price in layer.own.items()})
        regions.update({name: _higher(regions.get(name), listed) for name, listed in layer.regions.items()})
        books.append(PriceBook(own=dict(own), regions=dict(regions)))
    return books


def combined_quotas(layers: Sequence[DatedLayer]) -> Quotas:
    """Return the lowest quotas of all layers. Raise `InvalidInput` where an inner file has a higher one."""
    accounts: dict[str, dict[str, RegionQuotas]] = {}
    _reject([pair for number in range(1, len(layers)) for pair in _granted(layers[number], layers[:number])])
    for layer in layers:
        for account, granted in layer.quotas.accounts.items():
            known = accounts.setdefault(account, {})
            known.update({region: _lower(known.get(region), quotas) for region, quotas in granted.items()})
    return Quotas(accounts=accounts)


def _cheaper(inner: DatedLayer, outers: Sequence[DatedLayer]) -> Iterator[tuple[_Fact, _Fact]]:
    own = {name for outer in outers for name in outer.own}
    for outer in outers:
        for region, known in outer.regions.items():
            for name, text in known.training.items():
                fact = _Fact(layer=outer, name=PRICES, path=_price(region, name), value=f"{text} {known.currency}")
                if name in own:
                    continue  # it takes precedence, and policies have been combined before
                if name in inner.own and inner.own[name] < Fraction(text):
                    value = f"{float(inner.own[name]):.12g}"
                    yield _Fact(layer=inner, name="", path=(TABLE, name), value=value), fact
                listed = inner.regions.get(region)
                other = None if listed is None else listed.training.get(name)
                if listed is None or other is None:
                    continue
                if listed.currency != known.currency or Fraction(other) < Fraction(text):
                    value = f"{other} {listed.currency}"
                    yield _Fact(layer=inner, name=PRICES, path=_price(region, name), value=value), fact


def _granted(inner: DatedLayer, outers: Sequence[DatedLayer]) -> Iterator[tuple[_Fact, _Fact]]:
    for account, granted in inner.quotas.accounts.items():
        for region, quotas in granted.items():
            known = [(outer, outer.quotas.accounts.get(account, {}).get(region)) for outer in outers]
            for name, value in quotas.training.items():
                limits: list[tuple[DatedLayer | None, int]] = [
                    (outer, of.training[name]) for outer, of in known if of is not None and name in of.training
                ]
                if not limits and name == RUNTIME:
                    limits = [(None, DEFAULT_QUOTA)]
                path = ("accounts", account, region, "training", name)
                for outer, limit in limits:
                    if value > limit:
                        fact = _Fact(layer=inner, name=QUOTAS, path=path, value=str(value))
                        yield fact, _Fact(layer=outer, name=QUOTAS, path=path, value=str(limit))


def _price(region: str, name: str) -> Path:
    return ("regions", region, "training", name)


def _higher(outer: RegionPrices | None, inner: RegionPrices) -> RegionPrices:
    if outer is None:
        return inner
    training = {**inner.training, **outer.training}
    for name, text in inner.training.items():
        if Fraction(text) > Fraction(training[name]):
            training[name] = text
    return RegionPrices(as_of=outer.as_of, currency=outer.currency, training=training)


def _lower(outer: RegionQuotas | None, inner: RegionQuotas) -> RegionQuotas:
    if outer is None:
        return inner
    lowest = {name: min(value, outer.training.get(name, value)) for name, value in inner.training.items()}
    return RegionQuotas(as_of=outer.as_of, training={**outer.training, **lowest})


def _reject(found: Sequence[tuple[_Fact, _Fact]]) -> None:
    """Raise `InvalidInput` for facts that loosen others, if there are any."""
    diagnostics: list[Diagnostic] = []
    texts: dict[SourceText, None] = {}
    for inner, outer in found[:MOST]:
        span, text = _place(inner)
        texts.update(dict.fromkeys([text]))
        notes: tuple[Note, ...] = ()
        where = "by default"
        if outer.layer is not None:
            place, text = _place(outer)
            texts.update(dict.fromkeys([text]))
            notes = (Note("the outer value", place),)
            where = f"in `{place.file}`"
        diagnostics.append(
            Diagnostic(
                code=LOOSENED_POLICY.code,
                severity=LOOSENED_POLICY.severity,
                message=f"`{dotted(inner.path)}` is {inner.value}, but {outer.value} {where}",
                span=span,
                path=inner.path,
                help="remove it: a file in an inner directory only raises prices and lowers quotas",
                notes=notes,
            )
        )
    if diagnostics:
        raise InvalidInput(tuple(diagnostics), tuple(texts))


def _place(fact: _Fact) -> tuple[Span, SourceText]:
    """Return the position of a fact: in a policy its key, in a file that smspec writes the line that names it."""
    assert fact.layer is not None
    if not fact.name:
        assert fact.layer.file is not None
        places = Places(fact.layer.file)
        return places.of(fact.path), places.text
    path = os.path.normpath(os.path.join(os.path.relpath(fact.layer.directory), fact.name))
    try:
        text = fact.layer.boundary.read_named(path, _LARGEST).decode("utf-8", "replace")
    except FileNotRead:  # it was replaced after it was read
        text = ""
    at = 0
    for step in fact.path:
        at = max(at, text.find(json.dumps(step), at))
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Span(path, line, column, line, column + len(json.dumps(fact.path[-1]))), SourceText(path, text)
