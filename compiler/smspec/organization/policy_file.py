"""Read and check the policy of an organization in ``smspec.toml`` or ``[tool.smspec]`` of pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from smspec.diagnostics import MOST
from smspec.diagnostics.explanation import explained_codes
from smspec.diagnostics.quoting import one_of, quoted
from smspec.diagnostics.suggestions import did_you_mean
from smspec.organization import policy_combination
from smspec.organization.dated_file import INSTANCE_TYPE, price_list
from smspec.organization.dated_file import PRICE_TABLE as PRICES
from smspec.organization.default_layer import TABLE as DEFAULTS
from smspec.organization.organization_config import (
    MALFORMED_POLICY,
    Fault,
    MalformedConfig,
    OrganizationConfig,
    rejected,
    rejected_values,
)
from smspec.organization.policy_combination import Combined, Severities
from smspec.rules.suppressions import ALWAYS_ERRORS
from smspec.service.image_reference import parsed_reference
from smspec.service.policy import LEVELS, Level, RequiredBase
from smspec.source import dotted
from smspec.source.frozen import dataclass

REGISTRY_TABLE = "registry"
"""How `smspec build --push` creates repositories in Amazon ECR."""

_SWITCHES = ("create", "scan_on_push", "immutable_tags")
_KEEP_IMAGES = "keep_images"
_REGISTRY_KEYS = (*_SWITCHES, _KEEP_IMAGES)
_MOST_IMAGES = 100_000

_FACTS = ("images", "instance_types", "members", "values", policy_combination.TODAY)
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MEMBER = r"[A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*"

_HIGHEST = 10**9
_INVALID = object()


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """The keys that one file sets, and their values."""

    file: OrganizationConfig
    values: Mapping[str, object]


def read_values(file: OrganizationConfig, own_codes: tuple[str, ...] = ()) -> OwnPolicy:
    """Return the policy in the file. Raise `InvalidInput`, with positions, for invalid values.

    ``own_codes``: those of the rules that the organization wrote.
    """
    try:
        price_list(file)
    except MalformedConfig as malformed:
        raise rejected(MalformedConfig(file.path, malformed.fault, file.content)) from None
    reader = _Reader(file, (*explained_codes(), *own_codes))
    values = {name: key.read(reader, name) for name, key in POLICY_KEYS.items() if name in file.tables}
    faults = [*islice(_unknown(file.tables), MOST), *reader.faults]
    if faults:
        raise rejected_values(file, faults, MALFORMED_POLICY)
    return OwnPolicy(file, values)


class _Reader:
    """Reads the keys one by one and collects their errors. ``codes``: of all rules; None if they are not checked."""

    def __init__(self, file: OrganizationConfig, codes: tuple[str, ...] | None) -> None:
        self._file = file
        self._tables = file.tables
        self._codes = codes
        self.faults: list[Fault] = []

    def texts(self, *path: str) -> tuple[str, ...] | None:
        value: object = self._tables
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.faults.append((path, f"`{dotted(path)}` must be a list of strings", 'write `["…", "…"]`'))
            return ()
        return tuple(value)

    def families(self, key: str) -> tuple[str, ...]:
        """Return families without `ml.`, which authors may write too."""
        return tuple(name.removeprefix("ml.") for name in self.texts(key) or ())

    def bases(self, key: str) -> tuple[RequiredBase, ...]:
        names = self.texts(key) or ()
        if not names and not self.faults:
            self.faults.append(((key,), f"`{key}` is empty", "name a base spec, or remove the key"))
        return (RequiredBase(file=self._file.path, names=names),)

    def truth(self, key: str) -> bool:
        value = self._tables.get(key, False)
        if not isinstance(value, bool):
            self.faults.append(((key,), f"`{key}` must be true or false", "use `true` or `false`"))
        return value is True

    def number(self, key: str) -> Decimal | int:
        value = self._tables[key]
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or not _in_range(value):
            self.faults.append(((key,), f"`{key}` must be a number from 0 to {_HIGHEST:,}", f"write `{key} = 500`"))
            return 0
        return value

    def whole(self, key: str) -> int:
        value = self._tables[key]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _HIGHEST:
            self.faults.append(((key,), f"`{key}` must be an integer from 0 to {_HIGHEST:,}", f"write `{key} = 100`"))
            return 0
        return value

    def dollars(self, key: str) -> Fraction:
        return Fraction(self.number(key))

    def tags(self, key: str) -> dict[str, tuple[str, ...]]:
        value = self._tables[key]
        if isinstance(value, dict):
            return {name: self.texts(key, name) or () for name in value}
        return dict.fromkeys(self.texts(key) or (), ())

    def prices(self, _key: str) -> dict[str, Fraction]:
        return price_list(self._file)

    def registry(self, key: str) -> dict[str, bool | int]:
        settings, faults = read_registry(self._tables[key])
        self.faults += faults
        return settings

    def defaults(self, key: str) -> object:
        """Return the table as it is: `default_layer` reads it, and reports its faults."""
        return self._tables[key] if isinstance(self._tables[key], dict) else {}

    def rule_files(self, _key: str) -> tuple[str, ...]:
        """Return nothing: `read_rules` reads the files, and reports faults in their names."""
        return ()

    def facts(self, _key: str) -> dict[str, tuple[str, ...]]:
        """Return what the table `facts` lists, and the date that it states as a list."""
        value = self._tables.get("facts", {})
        if not isinstance(value, dict):
            self.faults.append((("facts",), "`facts` is not a table", 'write `[facts]` and below it `images = ["…"]`'))
            return {}
        for key in value:
            if key not in _FACTS:
                help = f"use {one_of(_FACTS)}"
                self.faults.append((("facts", key), f"unknown key {quoted(f'facts.{key}')}", help))
        found = {key: self.texts("facts", key) or () for key in _FACTS[:-1]}
        for image in found["images"]:
            reference = parsed_reference(image)
            if reference is None or reference.tag is None:
                help = "write the repository and the tag, such as `pytorch:2.13-cpu-amzn2023-sagemaker`"
                self.faults.append((("facts", "images"), f"`facts.images`: {quoted(image)} has no tag", help))
        for kind in found["instance_types"]:
            if not re.fullmatch(INSTANCE_TYPE, kind):
                message = f"`facts.instance_types`: {quoted(kind)} is not an instance type"
                self.faults.append((("facts", "instance_types"), message, "write a type such as `ml.p7.48xlarge`"))
        for key, form, example in (
            ("members", _MEMBER, "ResourceConfig.InstanceType"),
            ("values", rf"{_MEMBER}=.+", "OutputDataConfig.CompressionType=GZIP"),
        ):
            for name in found[key]:
                if not re.fullmatch(form, name):
                    message = f"`facts.{key}`: {quoted(name)} is not a path of the request"
                    self.faults.append((("facts", key), message, f"write a path such as `{example}`"))
        return {**found, policy_combination.TODAY: self._today(value.get(policy_combination.TODAY))}

    def _today(self, value: object) -> tuple[str, ...]:
        """Return the date that the file states, which TOML has as a date or as a string."""
        text = "" if value is None else str(value)
        try:
            date.fromisoformat(text if re.fullmatch(_DATE, text) else "")
        except ValueError:
            if value is not None:
                message = f"`facts.today`: {quoted(text)} is not a date"
                self.faults.append((("facts", "today"), message, "write a date such as `2026-11-30`"))
            return ()
        return (text,)

    def ignores(self, key: str) -> bool | tuple[str, ...]:
        value = self._tables[key]
        if isinstance(value, bool):
            return value
        codes = self.texts(key) or ()
        for code in codes:
            self._check_code((key,), code)
        return codes

    def levels(self, key: str) -> Severities:
        value = self._tables[key]
        if not isinstance(value, dict):
            self.faults.append((("rules",), "`rules` is not a table", 'write `[rules]` and below it `SM332 = "error"`'))
            return Severities()
        levels: dict[str, Level] = {}
        for code, level in value.items():
            self._check_code(("rules", code), code)
            known = next((name for name in LEVELS if name == level), None)
            if known is None:
                words = ", ".join(f"`{name}`" for name in LEVELS)
                self.faults.append(
                    (("rules", code), f"`rules.{code}`: {quoted(str(level))} is not a severity", f"use {words}")
                )
            elif known != "error" and code.startswith(ALWAYS_ERRORS):
                help = "remove it: smspec cannot read a job or a request with this error"
                self.faults.append((("rules", code), f"`rules.{code}` cannot be lowered", help))
            else:
                levels[code] = known
        return Severities(levels=levels)

    def _check_code(self, path: tuple[str, ...], code: str) -> None:
        # No author fixes more in one run, and searching for similar names takes time.
        if self._codes is not None and code not in self._codes and len(self.faults) < MOST:
            help = did_you_mean(code, self._codes) or "remove it, or fix the code"
            self.faults.append((path, f"unknown rule {quoted(code)}", help))


def loosens(key: str, old: OrganizationConfig, new: OrganizationConfig, at: tuple[str, ...]) -> bool | None:
    """Return whether a new version of a file loosens what a key of the old one requires; None if it may."""
    row = POLICY_KEYS.get(key)
    if row is None:
        return None
    if key not in new.tables or (at and at[-1] not in _table(new, key)):
        return row.if_removed
    before, after = (_value(row, file, key) for file in (old, new))
    if _INVALID in (before, after):
        return None  # its own error reports it
    if row.versions is not None:
        return row.versions(before, after)
    if key == PRICES and at and at[-1] not in (before or {}):
        return None  # it takes precedence over the file of prices
    return _is_weaker(row, before, after, at)


def undercuts(key: str, outer: OrganizationConfig, inner: OrganizationConfig, at: tuple[str, ...]) -> bool:
    """Return whether a key of a file in an inner directory is weaker than in an outer one, which is an error."""
    row = POLICY_KEYS.get(key)
    if row is None or key not in outer.tables:
        return False
    before, after = (_value(row, file, key) for file in (outer, inner))
    return after is not None and _INVALID not in (before, after) and _is_weaker(row, before, after, at)


def _is_weaker(row: PolicyKey, outer: Any, inner: Any, at: tuple[str, ...]) -> bool:
    return any(not weaker.at or weaker.at == at for weaker in row.combine(outer, inner)[1])


def _value(row: PolicyKey, file: OrganizationConfig, key: str) -> Any:
    """Return the value of a key; None if the file does not set it, `_INVALID` if it is not valid."""
    reader = _Reader(file, None)
    try:
        value = row.read(reader, key) if key in file.tables else None
    except MalformedConfig:
        return _INVALID
    return _INVALID if reader.faults else value


def _table(file: OrganizationConfig, key: str) -> Mapping[str, object] | list[object]:
    value = file.tables.get(key)
    return value if isinstance(value, dict | list) else {}


def _bases_added(old: tuple[RequiredBase, ...] | None, new: tuple[RequiredBase, ...]) -> bool | None:
    """Return whether a new list has alternatives that the old one lacks: a job needs only one of them."""
    known = {name for one in old or () for name in one.names}
    return old is not None and any(name not in known for one in new for name in one.names)


def _unknown(tables: Mapping[str, object]) -> Iterator[Fault]:
    for key in tables:
        if key not in POLICY_KEYS:
            help = did_you_mean(key, POLICY_KEYS) or f"it has {', '.join(POLICY_KEYS)}"
            yield (key,), f"unknown key {quoted(key)}", help


@dataclass(frozen=True, slots=True)
class PolicyKey:
    """How a file sets a key, how values of an outer and an inner file combine, and what follows if a file loses it.

    ``if_removed``: whether that loosens the policy, None if that depends on specs. ``versions`` compares an old value
    of one file with a new one; by default as an outer value with an inner one.
    """

    read: Callable[[_Reader, str], Any]
    combine: Callable[[Any, Any], Combined]
    if_removed: bool | None
    versions: Callable[[Any, Any], bool | None] | None = None


POLICY_KEYS: dict[str, PolicyKey] = {
    "required_tags": PolicyKey(_Reader.tags, policy_combination.every_tag, True),
    "allowed_instance_families": PolicyKey(_Reader.families, policy_combination.common, True),
    "allowed_regions": PolicyKey(_Reader.texts, policy_combination.common, True),
    "allowed_registries": PolicyKey(_Reader.texts, policy_combination.common_places, True),
    "require_kms": PolicyKey(_Reader.truth, policy_combination.required, True),
    "require_vpc": PolicyKey(_Reader.truth, policy_combination.required, True),
    "require_base": PolicyKey(_Reader.bases, policy_combination.all_of_both, True, _bases_added),
    "max_cost": PolicyKey(_Reader.dollars, policy_combination.lower, True),
    "max_hours": PolicyKey(_Reader.number, policy_combination.lower, True),
    "allowed_queues": PolicyKey(_Reader.texts, policy_combination.common, True),
    "max_priority": PolicyKey(_Reader.whole, policy_combination.lower, True),
    "allow_ignores": PolicyKey(_Reader.ignores, policy_combination.ignorable_by_both, True),
    "rules": PolicyKey(_Reader.levels, policy_combination.raised, None),
    PRICES: PolicyKey(_Reader.prices, policy_combination.dearer, None),
    DEFAULTS: PolicyKey(_Reader.defaults, policy_combination.beneath, None, lambda _old, _new: None),
    "facts": PolicyKey(_Reader.facts, policy_combination.known_to_both, False),
    REGISTRY_TABLE: PolicyKey(_Reader.registry, policy_combination.guarded, None),
    "rule_files": PolicyKey(_Reader.rule_files, policy_combination.all_of_both, True, lambda _old, _new: None),
}
"""Every key of a policy. A key has no meaning in an inner file unless its row says how it combines."""


def _in_range(value: int | Decimal) -> bool:
    return value == value and 0 <= value <= _HIGHEST  # a NaN of TOML raises where its order is asked for


def read_registry(table: object) -> tuple[dict[str, bool | int], list[Fault]]:
    """Return the settings that the table has, and the faults in it."""
    if not isinstance(table, dict):
        help = f"write `[{REGISTRY_TABLE}]` and below it its keys"
        return {}, [((REGISTRY_TABLE,), f"`{REGISTRY_TABLE}` is not a table", help)]
    unknown = (key for key in table if key not in _REGISTRY_KEYS)
    faults: list[Fault] = [_unknown_setting(key) for key in islice(unknown, MOST)]
    settings: dict[str, bool | int] = {}
    for name in _SWITCHES:
        value = table.get(name)
        if value is None:
            continue
        if not isinstance(value, bool):
            faults.append(
                ((REGISTRY_TABLE, name), f"`{REGISTRY_TABLE}.{name}` must be true or false", "use `true` or `false`")
            )
        settings[name] = value is not False
    most = table.get(_KEEP_IMAGES)
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= _MOST_IMAGES):
        message = f"`{REGISTRY_TABLE}.{_KEEP_IMAGES}` must be a number of images from 1 to {_MOST_IMAGES:,}"
        faults.append(((REGISTRY_TABLE, _KEEP_IMAGES), message, f"write `{_KEEP_IMAGES} = 100`"))
    elif most is not None:
        settings[_KEEP_IMAGES] = most
    return settings, faults


def _unknown_setting(key: str) -> Fault:
    help = did_you_mean(key, _REGISTRY_KEYS) or f"use {', '.join(_REGISTRY_KEYS)}"
    return (REGISTRY_TABLE, key), f"unknown key {quoted(f'{REGISTRY_TABLE}.{key}')}", help
