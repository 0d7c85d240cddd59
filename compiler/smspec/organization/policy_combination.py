"""How the value of a policy key in an outer file combines with that of an inner one: an inner file only tightens.

Every function gets both values as `policy_file` reads them, None where no outer file sets the key. It returns what
applies, which is at least as strict as the outer value, and where the inner value is weaker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from smspec.diagnostics.quoting import quoted
from smspec.rules.suppressions import POLICY_RULES
from smspec.service.policy import LEVELS, Level
from smspec.source.frozen import dataclass, field

_NOTES = "SM750"
"""Of the rules about a policy, this is a note if no file sets its severity; the others are errors."""


@dataclass(frozen=True, slots=True)
class Weaker:
    """A value that is weaker: its place below the key, what it says, and what the outer file says instead."""

    at: tuple[str, ...]
    inner: str
    outer: str


Combined = tuple[Any, list[Weaker]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Severities:
    """``levels`` are those of the outermost file, which may lower a severity; ``floors`` those of the others."""

    levels: Mapping[str, Level] = field(default_factory=dict)
    floors: Mapping[str, Level] = field(default_factory=dict)

    def lowest(self, code: str) -> Level | None:
        """Return the severity below which no finding of a rule is; None if it is the rule's own."""
        known = [level for level in (self.levels.get(code), self.floors.get(code)) if level is not None]
        return min(known, key=LEVELS.index, default=None)


def required(outer: bool | None, inner: bool) -> Combined:
    """Combine a requirement: it applies if one file sets it."""
    weaker = [Weaker((), "is false", "sets it to true")] if outer and not inner else []
    return bool(outer) or inner, weaker


def lower(outer: Any, inner: Any) -> Combined:
    """Combine a limit: the lower one applies."""
    if outer is None or inner <= outer:
        return inner, []
    return outer, [Weaker((), f"is {_number(inner)}", f"sets it to {_number(outer)}")]


def common(outer: tuple[str, ...] | None, inner: tuple[str, ...]) -> Combined:
    """Combine lists of permitted names: those that both permit."""
    if outer is None:
        return inner, []
    more = [name for name in inner if name not in outer]
    return tuple(name for name in inner if name in outer), [_permitting(name) for name in more]


def common_places(outer: tuple[str, ...] | None, inner: tuple[str, ...]) -> Combined:
    """Combine lists of permitted registries, or paths in them: those that are inside of one of the other list."""
    if outer is None:
        return inner, []
    more = [place for place in inner if not _is_in_one_of(place, outer)]
    kept = [place for place in inner if _is_in_one_of(place, outer)]
    kept += [place for place in outer if place not in kept and _is_in_one_of(place, inner)]
    return tuple(kept), [_permitting(place) for place in more]


def every_tag(outer: Mapping[str, tuple[str, ...]] | None, inner: Mapping[str, tuple[str, ...]]) -> Combined:
    """Combine required tags: all of them, each with the values that both permit."""
    tags = dict(outer or {})
    weaker: list[Weaker] = []
    for name, values in inner.items():
        permitted = tags.get(name, ())
        if not permitted:
            tags[name] = values
            continue
        more = [value for value in values if value not in permitted]
        if more or not values:
            says = f"permits {quoted(more[0])}" if more else "permits any value"
            weaker.append(Weaker((name,), says, "does not"))
        # An empty list would permit any value: without a common one, those of the outer file apply.
        tags[name] = tuple(value for value in values if value in permitted) or permitted
    return tags, weaker


def ignorable_by_both(outer: bool | tuple[str, ...] | None, inner: bool | tuple[str, ...]) -> Combined:
    """Combine which rules specs may ignore: those that both files permit."""
    outer = True if outer is None else outer
    if isinstance(inner, tuple):
        more = [code for code in inner if not may_ignore(outer, code)]
        return tuple(code for code in inner if may_ignore(outer, code)), [_permitting(code) for code in more]
    if not inner or outer is True:
        return inner, []
    says = f"permits only {', '.join(map(quoted, outer))}" if outer else "permits none"
    return outer, [Weaker((), "permits ignoring every rule", says)]


def may_ignore(permitted: bool | tuple[str, ...], code: str) -> bool:
    """Return whether specs may ignore a rule. Rules about the policy must be permitted by name."""
    if isinstance(permitted, tuple):
        return code in permitted
    return permitted and not code.startswith(POLICY_RULES)


def raised(outer: Severities | None, inner: Severities) -> Combined:
    """Combine severities: an inner file only raises them."""
    if outer is None:
        outer = Severities()
    floors = dict(outer.floors)
    weaker: list[Weaker] = []
    for code, level in (*inner.levels.items(), *inner.floors.items()):
        known = outer.lowest(code) or _shipped(code)
        if level == "off" or (known is not None and LEVELS.index(level) > LEVELS.index(known)):
            says = f"sets it to {quoted(known)}" if known and outer.lowest(code) else "does not lower it"
            if known != level:
                weaker.append(Weaker((code,), f"is {quoted(level)}", says))
                continue
        if level != "off":
            floors[code] = min(level, floors.get(code, level), key=LEVELS.index)
    return Severities(levels=outer.levels, floors=floors), weaker


TODAY = "today"


def known_to_both(outer: Mapping[str, tuple[str, ...]] | None, inner: Mapping[str, tuple[str, ...]]) -> Combined:
    """Combine facts, which turn off findings: an inner file adds none. A later date only adds findings."""
    known = dict(outer or {})
    weaker = [
        Weaker((key,), f"contains {quoted(name)}", "does not")
        for key, names in inner.items()
        for name in names
        if key != TODAY and name not in known.get(key, ())
    ]
    before, after = known.get(TODAY, ()), inner.get(TODAY, ())
    if after and after < before:
        weaker.append(Weaker((TODAY,), f"is {after[0]}", f"has {before[0]}"))
    return {**known, TODAY: max(before, after)}, weaker


def dearer(outer: Mapping[str, Any] | None, inner: Mapping[str, Any]) -> Combined:
    """Combine prices: the higher one applies."""
    prices = dict(outer or {})
    weaker: list[Weaker] = []
    for name, price in inner.items():
        if name in prices and price < prices[name]:
            weaker.append(Weaker((name,), f"is {_number(price)}", f"sets it to {_number(prices[name])}"))
        prices[name] = max(price, prices.get(name, price))
    return prices, weaker


def guarded(outer: Mapping[str, Any] | None, inner: Mapping[str, Any]) -> Combined:
    """Combine how repositories are created: scanned, immutable, or not at all if one file says so."""
    settings = dict(outer or {})
    weaker: list[Weaker] = []
    for name, value in inner.items():
        if name == "keep_images":
            if settings.get(name, 0) > value:
                weaker.append(Weaker((name,), f"is {value}", f"keeps {settings[name]}"))
            settings[name] = max(value, settings.get(name, value))
            continue
        strict = name != "create"
        known = settings.get(name, True)
        if known == strict and value != strict:
            weaker.append(Weaker((name,), f"is {str(value).lower()}", f"has {str(strict).lower()}"))
        settings[name] = strict if strict in (known, value) else value
    return settings, weaker


def beneath(outer: Mapping[str, Any] | None, inner: Mapping[str, Any]) -> Combined:
    """Combine defaults. They require nothing: a spec may set each, and so may an inner file, as a base spec would."""
    return {**(outer or {}), **inner}, []


def all_of_both(outer: tuple[object, ...] | None, inner: tuple[object, ...]) -> Combined:
    """Combine base specs, of which a job extends one of each file, or names of files with rules, which all apply."""
    return (*(outer or ()), *inner), []


def _permitting(name: str) -> Weaker:
    return Weaker((), f"permits {quoted(name)}", "does not")


def _is_in_one_of(place: str, places: Sequence[str]) -> bool:
    return any(f"{place.rstrip('/')}/".startswith(f"{other.rstrip('/')}/") for other in places)


def _shipped(code: str) -> Level | None:
    """Return the severity of a rule about a policy if no file sets it; None for other rules."""
    return None if not code.startswith(POLICY_RULES) else "note" if code == _NOTES else "error"


def _number(value: Any) -> str:
    return f"{float(cast('float', value)):,.12g}"
