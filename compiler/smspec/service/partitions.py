"""The partitions of AWS: which regions, ARNs, and registries belong together. A request never leaves its partition.

The table is that of botocore, which every SDK of AWS finds its endpoints with.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from smspec.diagnostics.suggestions import nearest
from smspec.service.facts.table import Table, table
from smspec.source.frozen import dataclass

DEFAULT_SUFFIX = "amazonaws.com"
"""The DNS suffix of a region that no partition is known for: that of the commercial one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """``name`` is the second field of its ARNs. ``regions`` are those of the table; ``pattern`` fits new ones too."""

    name: str
    dns_suffix: str
    pattern: str
    regions: tuple[str, ...]


@cache
def partitions() -> tuple[Partition, ...]:
    """Return every partition of the table."""
    return tuple(
        Partition(
            name=row["partition"],
            dns_suffix=row["dns_suffix"],
            pattern=row["region_pattern"],
            regions=tuple(row["regions"].split(" ")),
        )
        for row in regions_table().rows()
    )


def regions_table() -> Table:
    return table("partitions")


@lru_cache(maxsize=64)  # jobs share regions
def partition_of(region: str) -> Partition | None:
    """Return the partition of a region, also of one that is newer than the table; None if its name fits none."""
    listed = next((each for each in partitions() if region in each.regions), None)
    return listed or next((each for each in partitions() if re.fullmatch(each.pattern, region)), None)


def is_listed(region: str) -> bool:
    """Return whether the table has a region."""
    return any(region in each.regions for each in partitions())


def nearest_region(name: str) -> str | None:
    """Return the listed region that a name is probably meant for."""
    listed = [region for each in partitions() for region in each.regions]
    # One digit too many or too few is likelier than a different direction.
    stem = name.rstrip("0123456789")
    siblings = [region for region in listed if region.rstrip("0123456789") == stem]
    return nearest(name, siblings) or nearest(name, listed)


def dns_suffix(region: str) -> str:
    """Return the suffix of the host names of a region."""
    found = partition_of(region)
    return found.dns_suffix if found else DEFAULT_SUFFIX
