"""The policy of an organization for all its jobs, as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smspec.service.prices import PriceBook
from smspec.service.quotas import Quotas
from smspec.service.registry_settings import RegistrySettings
from smspec.source.frozen import dataclass, field

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction


Level = Literal["error", "warning", "note", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """None, or empty: no requirement.

    ``required_tags``: name → the values it may have, none: any. ``levels``: code → its severity. ``may_ignore``:
    whether a spec may ignore checks, or the codes that it may ignore. ``path``: the file with the policy.
    ``max_cost``: US dollars for a job at most, by ``prices``; ``max_hours``: instance hours for a job at most.
    ``require_base``: the base specs of which a job extends one, relative to the file. ``quotas``: what AWS grants the
    accounts, from a file next to the policy. ``known_images``: those of AWS that are newer than the tables;
    ``known_instance_types``: those that are newer than the pinned API model. ``registry``: how `smspec build --push`
    creates repositories.
    """

    path: str
    required_tags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    allowed_instance_families: tuple[str, ...] | None = None
    allowed_regions: tuple[str, ...] | None = None
    allowed_registries: tuple[str, ...] | None = None
    require_kms: bool = False
    require_vpc: bool = False
    max_cost: Fraction | None = None
    max_hours: Decimal | int | None = None
    require_base: tuple[str, ...] | None = None
    prices: PriceBook = field(default_factory=PriceBook)
    quotas: Quotas = field(default_factory=Quotas)
    known_images: tuple[str, ...] = ()
    known_instance_types: tuple[str, ...] = ()
    may_ignore: bool | tuple[str, ...] = True
    levels: dict[str, Level] = field(default_factory=dict)
    registry: RegistrySettings = field(default_factory=RegistrySettings)

    def lets_ignore(self, code: str) -> bool:
        return code in self.may_ignore if isinstance(self.may_ignore, tuple) else self.may_ignore
