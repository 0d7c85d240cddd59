"""The policy, prices, and quotas that the files of several directories make together, from the top down.

An inner file only tightens a policy; of the facts about AWS, it makes nothing cheaper, and grants nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from smspec.diagnostics import MOST, Diagnostic, InvalidInput, Note, Rule
from smspec.organization.dated_file import PRICE_TABLE, price_list
from smspec.organization.dated_file import PRICES as PRICES
from smspec.organization.dated_file import QUOTAS as QUOTAS
from smspec.organization.organization_config import OrganizationConfig, TomlPlaces, json_place
from smspec.organization.policy_combination import TODAY, Severities, Weaker
from smspec.organization.policy_file import POLICY_KEYS, OwnPolicy
from smspec.service.job_costs import PriceBook, RegionPrices
from smspec.service.policy import RUNTIME, KnownFacts, Policy, Quotas, RegionQuotas, RegistrySettings
from smspec.service.request_rules.stopping import DEFAULT_QUOTA
from smspec.source import Path, SourceText, Span, dotted
from smspec.source.frozen import dataclass
from smspec.workspace.boundary import Boundary

LOOSENED_POLICY = Rule("SM760", "policy that loosens an outer one")


def combined_policy(layers: Sequence[OwnPolicy]) -> Policy:
    """Return the policy of several files, the outermost first. Raise `InvalidInput` where an inner one is weaker."""
    values: dict[str, Any] = {}
    priced_by: Mapping[str, Any] | None = None
    found: list[tuple[int, str, Weaker]] = []
    for number, layer in enumerate(layers):
        for key, value in layer.values.items():
            if number == 0:
                values[key] = value
                continue
            values[key], weaker = POLICY_KEYS[key].combine(values.get(key), value)
            found += [(number, key, one) for one in weaker]
        if priced_by is None and "max_cost" in layer.values:
            priced_by = dict(values.get("prices", {}))
    if found:
        raise _loosened(layers, found)
    return _policy(values, layers, priced_by)


def _policy(values: Mapping[str, Any], layers: Sequence[OwnPolicy], priced_by: Mapping[str, Any] | None) -> Policy:
    severities, facts = values.get("rules", Severities()), values.get("facts", {})
    return Policy(
        path=layers[-1].file.path,
        sources=dict(_sources(layers)),
        required_tags=values.get("required_tags", {}),
        allowed_instance_families=values.get("allowed_instance_families"),
        allowed_regions=values.get("allowed_regions"),
        allowed_registries=values.get("allowed_registries"),
        require_kms=values.get("require_kms", False),
        require_vpc=values.get("require_vpc", False),
        max_cost=values.get("max_cost"),
        max_hours=values.get("max_hours"),
        allowed_queues=values.get("allowed_queues"),
        max_priority=values.get("max_priority"),
        require_base=values.get("require_base", ()),
        prices=PriceBook(own=values.get("prices", {})),
        priced_by=None if priced_by is None else PriceBook(own=priced_by),
        facts=KnownFacts(
            **{name: known for name, known in facts.items() if name != TODAY}, today="".join(facts.get(TODAY, ()))
        ),
        may_ignore=values.get("allow_ignores", True),
        levels=dict(severities.levels),
        floors=dict(severities.floors),
        registry=RegistrySettings(**values.get("registry", {})),
    )


def _sources(layers: Sequence[OwnPolicy]) -> Iterator[tuple[Path, str]]:
    """Yield the file of each key, and of each required tag; of several the last one, which is the strictest."""
    for layer in layers:
        for key, value in layer.values.items():
            yield (key,), layer.file.path
            yield from (((key, name), layer.file.path) for name in value) if isinstance(value, dict) else ()


def _loosened(layers: Sequence[OwnPolicy], found: Sequence[tuple[int, str, Weaker]]) -> InvalidInput:
    diagnostics: list[Diagnostic] = []
    texts: dict[SourceText, None] = {}
    for number, key, weaker in found[:MOST]:
        inner, path = layers[number].file, (key, *weaker.at)
        outer = next((one for one in reversed(layers[:number]) if _sets(one, key, weaker)), layers[0])
        places, places_outside = TomlPlaces(inner), TomlPlaces(outer.file)
        texts.update(dict.fromkeys((places.text, places_outside.text)))
        diagnostics.append(
            Diagnostic(
                code=LOOSENED_POLICY.code,
                severity=LOOSENED_POLICY.severity,
                message=f"`{dotted(path)}` {weaker.inner}, but `{outer.file.path}` {weaker.outer}",
                span=places.of(path),
                path=path,
                help=f"remove it, or change `{outer.file.path}`: a file in an inner directory only tightens a policy",
                notes=(Note("the outer policy", places_outside.of(path)),),
            )
        )
    return InvalidInput(tuple(diagnostics), tuple(texts))


def _sets(layer: OwnPolicy, key: str, weaker: Weaker) -> bool:
    value = layer.values.get(key)
    table = value.levels if isinstance(value, Severities) else value
    return key in layer.values and (not weaker.at or not isinstance(table, dict) or weaker.at[0] in table)


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
                    yield _Fact(layer=inner, name="", path=(PRICE_TABLE, name), value=value), fact
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
        places = TomlPlaces(fact.layer.file)
        return places.of(fact.path), places.text
    path = os.path.normpath(os.path.join(os.path.relpath(fact.layer.directory), fact.name))
    return json_place(path, fact.path, fact.layer.boundary)
