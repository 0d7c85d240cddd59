"""The rows of the table of partitions, from the file with which botocore finds endpoints."""

from __future__ import annotations

import json
import os
from typing import Any

from smspec.service.facts.table import Row

_GLOBAL = "-global"
"""The end of names that are endpoints of global services, not regions."""


def partition_rows(botocore: str) -> list[Row]:
    """Return a row for each partition in an installed botocore, sorted by name."""
    with open(os.path.join(botocore, "data", "partitions.json"), encoding="utf-8") as file:
        found: list[Any] = json.load(file)["partitions"]
    return [
        {
            "partition": each["id"],
            "dns_suffix": each["outputs"]["dnsSuffix"],
            "dual_stack_suffix": each["outputs"]["dualStackDnsSuffix"],
            "region_pattern": each["regionRegex"].strip("^$").replace("\\-", "-"),
            "regions": " ".join(sorted(region for region in each["regions"] if not region.endswith(_GLOBAL))),
        }
        for each in sorted(found, key=lambda each: str(each["id"]))
    ]
