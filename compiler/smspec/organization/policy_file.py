"""Read and check the policy of an organization in ``smspec.toml`` or ``[tool.smspec]`` of pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import islice

from smspec.diagnostics.explanation import explained_codes
from smspec.diagnostics.parse_errors import MOST
from smspec.diagnostics.quoting import one_of, quoted
from smspec.diagnostics.suggestions import nearest
from smspec.organization.default_layer import TABLE as DEFAULTS
from smspec.organization.organization_config import MalformedConfig, OrganizationConfig
from smspec.organization.price_file import INSTANCE_TYPE
from smspec.organization.price_list import TABLE as PRICES
from smspec.organization.price_list import price_list
from smspec.organization.registry_table import TABLE as REGISTRY
from smspec.organization.registry_table import read_registry
from smspec.organization.toml_faults import MALFORMED_POLICY, Fault, rejected, rejected_values
from smspec.rules.suppressions import NEVER_IGNORED
from smspec.service.image_reference import parsed_reference
from smspec.service.policy import Level, Policy
from smspec.service.prices import PriceBook
from smspec.source import dotted

_LEVELS: tuple[Level, ...] = ("error", "warning", "note", "off")
_KEYS = (
    "required_tags",
    "allowed_instance_families",
    "allowed_regions",
    "allowed_registries",
    "require_kms",
    "require_vpc",
    "require_base",
    "max_cost",
    "max_hours",
    "allow_ignores",
    "rules",
    PRICES,
    DEFAULTS,
    "facts",
    REGISTRY,
    "rule_files",
)

_FACTS = ("images", "instance_types")

_HIGHEST = 10**9


def read_policy(file: OrganizationConfig, own_codes: tuple[str, ...] = ()) -> Policy:
    """Return the policy in the file. Raise `InvalidInput`, with positions, for invalid values.

    ``own_codes``: those of the rules that the organization wrote.
    """
    try:
        prices = price_list(file)
    except MalformedConfig as malformed:
        raise rejected(MalformedConfig(file.path, malformed.fault, file.content)) from None
    reader = _Reader(file.tables, (*explained_codes(), *own_codes))
    images, types = reader.facts()
    registry, registry_faults = read_registry(file.tables.get(REGISTRY, {}))
    policy = Policy(
        path=file.path,
        required_tags=reader.tags(),
        allowed_instance_families=_families(reader.texts("allowed_instance_families")),
        allowed_regions=reader.texts("allowed_regions"),
        allowed_registries=reader.texts("allowed_registries"),
        require_kms=reader.truth("require_kms"),
        require_vpc=reader.truth("require_vpc"),
        max_cost=reader.dollars("max_cost"),
        max_hours=reader.number("max_hours"),
        require_base=reader.texts("require_base"),
        prices=PriceBook(own=prices),
        known_images=images,
        known_instance_types=types,
        may_ignore=reader.ignores(),
        levels=reader.levels(),
        registry=registry,
    )
    faults = [*islice(_unknown(file.tables), MOST), *reader.faults, *registry_faults]
    if faults:
        raise rejected_values(file, faults, MALFORMED_POLICY)
    return policy


def _families(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return families without `ml.`, which authors may write too."""
    return None if names is None else tuple(name.removeprefix("ml.") for name in names)


class _Reader:
    """Reads the keys one by one and collects their errors."""

    def __init__(self, tables: Mapping[str, object], codes: tuple[str, ...]) -> None:
        self._tables = tables
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

    def truth(self, key: str) -> bool:
        value = self._tables.get(key, False)
        if not isinstance(value, bool):
            self.faults.append(((key,), f"`{key}` must be true or false", "use `true` or `false`"))
        return value is True

    def number(self, key: str) -> Decimal | int | None:
        value = self._tables.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value <= _HIGHEST:
            self.faults.append(((key,), f"`{key}` must be a number from 0 to {_HIGHEST:,}", f"write `{key} = 500`"))
            return None
        return value

    def dollars(self, key: str) -> Fraction | None:
        value = self.number(key)
        return None if value is None else Fraction(value)

    def tags(self) -> dict[str, tuple[str, ...]]:
        value = self._tables.get("required_tags")
        if isinstance(value, dict):
            return {name: self.texts("required_tags", name) or () for name in value}
        return dict.fromkeys(self.texts("required_tags") or (), ())

    def facts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the images and the instance types of the table `facts`."""
        value = self._tables.get("facts", {})
        if not isinstance(value, dict):
            self.faults.append((("facts",), "`facts` is not a table", 'write `[facts]` and below it `images = ["…"]`'))
            return (), ()
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
        return images, types

    def ignores(self) -> bool | tuple[str, ...]:
        value = self._tables.get("allow_ignores", True)
        if isinstance(value, bool):
            return value
        codes = self.texts("allow_ignores") or ()
        for code in codes:
            self._check_code(("allow_ignores",), code)
        return codes

    def levels(self) -> dict[str, Level]:
        value = self._tables.get("rules", {})
        if not isinstance(value, dict):
            self.faults.append((("rules",), "`rules` is not a table", 'write `[rules]` and below it `SM332 = "error"`'))
            return {}
        levels: dict[str, Level] = {}
        for code, level in value.items():
            self._check_code(("rules", code), code)
            known = next((name for name in _LEVELS if name == level), None)
            if known is None:
                words = ", ".join(f"`{name}`" for name in _LEVELS)
                self.faults.append(
                    (("rules", code), f"`rules.{code}`: {quoted(str(level))} is not a severity", f"use {words}")
                )
            elif known != "error" and code.startswith(NEVER_IGNORED):
                help = "remove it: smspec cannot read a job or a request with this error"
                self.faults.append((("rules", code), f"`rules.{code}` cannot be lowered", help))
            else:
                levels[code] = known
        return levels

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
        if key not in _KEYS:
            near = nearest(key, _KEYS)
            yield (
                (key,),
                f"unknown key {quoted(key)}",
                f"did you mean `{near}`?" if near else f"it has {', '.join(_KEYS)}",
            )
