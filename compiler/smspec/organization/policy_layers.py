"""The policy that the files of several directories make together, from the top of a repository down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smspec.diagnostics import Diagnostic, InvalidInput, Note, Rule
from smspec.diagnostics.parse_errors import MOST
from smspec.organization.policy_combination import Severities, Weaker
from smspec.organization.policy_file import POLICY_KEYS, OwnPolicy
from smspec.organization.toml_faults import Places
from smspec.service.job_costs import PriceBook
from smspec.service.policy import Policy, RegistrySettings
from smspec.source import Path, SourceText, dotted

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


def weaknesses(old: OwnPolicy, new: OwnPolicy) -> Iterator[tuple[str, Weaker]]:
    """Yield where a new version of a file is weaker than the old one, by key."""
    for key, value in new.values.items():
        if key in old.values:
            yield from ((key, one) for one in POLICY_KEYS[key].combine(old.values[key], value)[1])


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
        require_base=values.get("require_base", ()),
        prices=PriceBook(own=values.get("prices", {})),
        priced_by=None if priced_by is None else PriceBook(own=priced_by),
        known_images=facts.get("images", ()),
        known_instance_types=facts.get("instance_types", ()),
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
        places, places_outside = Places(inner), Places(outer.file)
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
