"""The policy of an organization for all its jobs, as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smspec.service.prices import PriceBook
from smspec.service.quotas import Quotas
from smspec.service.registry_settings import RegistrySettings
from smspec.source.frozen import dataclass, field
from smspec.source.node import Path

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction


Level = Literal["error", "warning", "note", "off"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note", "off")
"""From the highest to the lowest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredBase:
    """The base specs of which a job extends one, relative to ``file``."""

    file: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """None, or empty: no requirement.

    ``required_tags``: name → the values it may have, none: any. ``levels``: code → its severity. ``may_ignore``:
    whether a spec may ignore checks, or the codes that it may ignore. ``floors``: code → its lowest severity, as files
    of inner directories set it. ``path``: the innermost file with the policy; ``sources``: which file sets a key.
    ``max_cost``: US dollars for a job at most, by ``prices``; ``max_hours``: instance hours for a job at most.
    ``priced_by``: the prices of the file that limits the cost, and of those above it. ``require_base``: a job extends
    a base spec of each. ``quotas``: what AWS grants the
    accounts, from a file next to the policy. ``known_images``: those of AWS that are newer than the tables;
    ``known_instance_types``: those that are newer than the pinned API model. ``registry``: how `smspec build --push`
    creates repositories.
    """

    path: str
    sources: dict[Path, str] = field(default_factory=dict)
    required_tags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    allowed_instance_families: tuple[str, ...] | None = None
    allowed_regions: tuple[str, ...] | None = None
    allowed_registries: tuple[str, ...] | None = None
    require_kms: bool = False
    require_vpc: bool = False
    max_cost: Fraction | None = None
    max_hours: Decimal | int | None = None
    require_base: tuple[RequiredBase, ...] = ()
    prices: PriceBook = field(default_factory=PriceBook)
    priced_by: PriceBook | None = None
    quotas: Quotas = field(default_factory=Quotas)
    known_images: tuple[str, ...] = ()
    known_instance_types: tuple[str, ...] = ()
    may_ignore: bool | tuple[str, ...] = True
    levels: dict[str, Level] = field(default_factory=dict)
    floors: dict[str, Level] = field(default_factory=dict)
    registry: RegistrySettings = field(default_factory=RegistrySettings)

    def file_of(self, *key: str) -> str:
        """Return the file that sets a key, the innermost if several do."""
        return self.sources.get(key) or self.sources.get(key[:1]) or self.path

    def lets_ignore(self, code: str) -> bool:
        return code in self.may_ignore if isinstance(self.may_ignore, tuple) else self.may_ignore
