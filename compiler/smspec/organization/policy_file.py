"""Read and check the policy of an organization in ``smspec.toml`` or ``[tool.smspec]`` of pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from smspec.diagnostics.explanation import explained_codes
from smspec.diagnostics.parse_errors import MOST
from smspec.diagnostics.quoting import one_of, quoted
from smspec.diagnostics.suggestions import nearest
from smspec.organization import policy_combination
from smspec.organization.default_layer import TABLE as DEFAULTS
from smspec.organization.organization_config import MalformedConfig, OrganizationConfig
from smspec.organization.policy_combination import Combined, Severities
from smspec.organization.price_file import INSTANCE_TYPE
from smspec.organization.price_list import TABLE as PRICES
from smspec.organization.price_list import price_list
from smspec.organization.registry_table import TABLE as REGISTRY
from smspec.organization.registry_table import read_registry
from smspec.organization.toml_faults import MALFORMED_POLICY, Fault, rejected, rejected_values
from smspec.rules.suppressions import NEVER_IGNORED
from smspec.service.image_reference import parsed_reference
from smspec.service.policy import LEVELS, Level, RequiredBase
from smspec.source import dotted
from smspec.source.frozen import dataclass

_FACTS = ("images", "instance_types")

_HIGHEST = 10**9


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
    """Reads the keys one by one and collects their errors."""

    def __init__(self, file: OrganizationConfig, codes: tuple[str, ...]) -> None:
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
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value <= _HIGHEST:
            self.faults.append(((key,), f"`{key}` must be a number from 0 to {_HIGHEST:,}", f"write `{key} = 500`"))
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
        """Return the images and the instance types of the table `facts`."""
        value = self._tables.get("facts", {})
        if not isinstance(value, dict):
            self.faults.append((("facts",), "`facts` is not a table", 'write `[facts]` and below it `images = ["…"]`'))
            return {}
        for key in value:
            if key not in _FACTS:
                help = f"use {one_of(_FACTS)}"
                self.faults.append((("facts", key), f"unknown key {quoted(f'facts.{key}')}", help))
        images, types = (self.texts("facts", key) or () for key in _FACTS)
        for image in images:
            reference = parsed_reference(image)
            if reference is None or reference.tag is None:
                help = "write the repository and the tag, such as `pytorch:2.13-cpu-amzn2023-sagemaker`"
                self.faults.append((("facts", "images"), f"`facts.images`: {quoted(image)} has no tag", help))
        for kind in types:
            if not re.fullmatch(INSTANCE_TYPE, kind):
                message = f"`facts.instance_types`: {quoted(kind)} is not an instance type"
                self.faults.append((("facts", "instance_types"), message, "write a type such as `ml.p7.48xlarge`"))
        return {"images": images, "instance_types": types}

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
            elif known != "error" and code.startswith(NEVER_IGNORED):
                help = "remove it: smspec cannot read a job or a request with this error"
                self.faults.append((("rules", code), f"`rules.{code}` cannot be lowered", help))
            else:
                levels[code] = known
        return Severities(levels=levels)

    def _check_code(self, path: tuple[str, ...], code: str) -> None:
        # No author fixes more in one run, and searching for similar names takes time.
        if code not in self._codes and len(self.faults) < MOST:
            near = nearest(code, self._codes)
            self.faults.append(
                (
                    path,
                    f"unknown rule {quoted(code)}",
                    f"did you mean `{near}`?" if near else "remove it, or fix the code",
                )
            )


def _unknown(tables: Mapping[str, object]) -> Iterator[Fault]:
    for key in tables:
        if key not in POLICY_KEYS:
            near = nearest(key, POLICY_KEYS)
            yield (
                (key,),
                f"unknown key {quoted(key)}",
                f"did you mean `{near}`?" if near else f"it has {', '.join(POLICY_KEYS)}",
            )


@dataclass(frozen=True, slots=True)
class PolicyKey:
    """How a file sets a key, and how the values of an outer and an inner file combine."""

    read: Callable[[_Reader, str], Any]
    combine: Callable[[Any, Any], Combined]


POLICY_KEYS: dict[str, PolicyKey] = {
    "required_tags": PolicyKey(_Reader.tags, policy_combination.every_tag),
    "allowed_instance_families": PolicyKey(_Reader.families, policy_combination.common),
    "allowed_regions": PolicyKey(_Reader.texts, policy_combination.common),
    "allowed_registries": PolicyKey(_Reader.texts, policy_combination.common_places),
    "require_kms": PolicyKey(_Reader.truth, policy_combination.required),
    "require_vpc": PolicyKey(_Reader.truth, policy_combination.required),
    "require_base": PolicyKey(_Reader.bases, policy_combination.every_base),
    "max_cost": PolicyKey(_Reader.dollars, policy_combination.lower),
    "max_hours": PolicyKey(_Reader.number, policy_combination.lower),
    "allow_ignores": PolicyKey(_Reader.ignores, policy_combination.ignorable_by_both),
    "rules": PolicyKey(_Reader.levels, policy_combination.raised),
    PRICES: PolicyKey(_Reader.prices, policy_combination.dearer),
    DEFAULTS: PolicyKey(_Reader.defaults, policy_combination.beneath),
    "facts": PolicyKey(_Reader.facts, policy_combination.known_to_both),
    REGISTRY: PolicyKey(_Reader.registry, policy_combination.guarded),
    "rule_files": PolicyKey(_Reader.rule_files, policy_combination.all_of_both),
}
"""Every key of a policy. A key has no meaning in an inner file unless its row says how it combines."""
