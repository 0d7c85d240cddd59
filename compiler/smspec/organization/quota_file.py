"""``smspec.quotas.json``: the quotas for training jobs, by account and region."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.organization.dated_file import (
    DATE,
    REGION,
    Fault,
    dated_file_in,
    dated_text,
    is_match,
    read_dated_file,
)
from smspec.service.quotas import Quotas, RegionQuotas
from smspec.source import Path
from smspec.workspace.boundary import Boundary
from smspec.workspace.organization_marker import DATED_FILES

NAME = DATED_FILES[1]
COMMAND = "smspec quotas --update"
ACCOUNT = r"[0-9]{12}"

_VERSION = 1


def known_quotas(directory: str, boundary: Boundary) -> Quotas:
    """Return the quotas in the file of a directory itself; empty if there is none. Raise as `read_dated_file`."""
    path = dated_file_in(directory, NAME, boundary)
    if path is None:
        return Quotas()
    accounts = read_dated_file(path, boundary, COMMAND, _fault)["accounts"]
    assert isinstance(accounts, dict)
    return Quotas(
        accounts={
            account: {region: RegionQuotas(**entry) for region, entry in regions.items()}
            for account, regions in accounts.items()
        }
    )


def quota_text(accounts: Mapping[str, Mapping[str, RegionQuotas]]) -> str:
    """Return the text of the file."""
    return dated_text(
        {
            "version": _VERSION,
            "accounts": {
                account: {
                    region: {"as_of": known.as_of, "training": dict(sorted(known.training.items()))}
                    for region, known in sorted(regions.items())
                }
                for account, regions in sorted(accounts.items())
            },
        }
    )


def _fault(data: object) -> Fault | None:
    """Return the first fault of the content; None if there is none."""
    accounts = data.get("accounts") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(accounts, dict):
        return (), f"{NAME} has no `accounts`"
    if data.get("version") != _VERSION:
        return ("version",), f"`version` is not {_VERSION}, the version that this smspec reads"
    for account, regions in accounts.items():
        if not is_match(ACCOUNT, account) or not isinstance(regions, dict):
            return ("accounts", account), "not the quotas of an account"
        for region, entry in regions.items():
            fault = _fault_of_region(("accounts", account, region), region, entry)
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
