"""``smspec.quotas.json``: the quotas for training jobs, by account and region.

Its date is in the findings: a check may not depend on the clock, so the age of the file is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping

from smspec.organization.dated_file import (
    DATE,
    REGION,
    Fault,
    dated_text,
    is_match,
    read_dated_file,
)
from smspec.service.quotas import Quotas, RegionQuotas
from smspec.source import Path
from smspec.workspace.boundary import Boundary
from smspec.workspace.boundary_search import DATED_FILES

NAME = DATED_FILES[1]
COMMAND = "smspec quotas --update"
ACCOUNT = r"[0-9]{12}"

_MEMBER = "accounts"


def known_quotas(directory: str, boundary: Boundary) -> Quotas:
    """Return the quotas in the file of a directory itself; empty if there is none. Raise as `read_dated_file`."""
    accounts = read_dated_file(directory, NAME, boundary, command=COMMAND, member=_MEMBER, fault_of=_fault)
    return Quotas(
        accounts={
            account: {region: RegionQuotas(**entry) for region, entry in regions.items()}
            for account, regions in accounts.items()
        }
    )


def quota_text(accounts: Mapping[str, Mapping[str, RegionQuotas]]) -> str:
    """Return the text of the file."""
    return dated_text(
        _MEMBER,
        {
            account: {
                region: {"as_of": known.as_of, "training": dict(sorted(known.training.items()))}
                for region, known in sorted(regions.items())
            }
            for account, regions in sorted(accounts.items())
        },
    )


def _fault(accounts: dict[str, object]) -> Fault | None:
    """Return the first fault in the quotas; None if there is none."""
    for account, regions in accounts.items():
        if not is_match(ACCOUNT, account) or not isinstance(regions, dict):
            return (_MEMBER, account), "not the quotas of an account"
        for region, entry in regions.items():
            fault = _fault_of_region((_MEMBER, account, region), region, entry)
            if fault is not None:
                return fault
    return None


def _fault_of_region(at: Path, region: str, entry: object) -> Fault | None:
    if not is_match(REGION, region) or not isinstance(entry, dict):
        return at, "not the quotas of a region"
    if set(entry) != {"as_of", "training"} or not isinstance(entry["training"], dict):
        return at, f"the quotas of `{region}` are not `as_of` and `training`"
    if not is_match(DATE, entry["as_of"]):
        return (*at, "as_of"), "`as_of` is not a date"
    for name, value in entry["training"].items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            return (*at, "training", name), "the quota is not an integer of 0 or more"
    return None
