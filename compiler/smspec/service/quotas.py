"""The quotas of accounts for training jobs, as Service Quotas lists them."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.service.request import Request
from smspec.source.frozen import dataclass, field

RUNTIME = "Longest run time for a training job"
VOLUME = "Size of EBS volume for a training job instance"
WARM_POOL = "{} for training warm pool usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionQuotas:
    """The quotas of an account in a region: name of the quota → value. ``as_of``: the date of the request."""

    as_of: str
    training: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """``accounts``: account → region → its quotas."""

    accounts: Mapping[str, Mapping[str, RegionQuotas]] = field(default_factory=dict)

    def of(self, request: Request) -> RegionQuotas | None:
        """Return the quotas for a request: those of its role's account in its region; None if they are unknown."""
        role, region = request.role, request.region
        if role is None or not self.accounts:
            return None
        if region is None and request.image is not None:
            region = request.image.region
        return self.accounts.get(role.account, {}).get(region or "")


def usage(instance_type: str, *, spot: bool) -> str:
    """Return the name of the quota for the instances of a type that run at once."""
    return f"{instance_type} for {_kind(spot)} job usage"


def per_job(*, spot: bool) -> str:
    """Return the name of the quota for the instances of a job."""
    return f"Maximum number of instances per {_kind(spot)} job"


def across_jobs(*, spot: bool) -> str:
    """Return the name of the quota for the instances of all jobs together."""
    return f"Number of instances across all {_kind(spot)} jobs"


def is_about_training(name: str) -> bool:
    """Return whether a job is compared with the quota of a name."""
    ends = (usage("", spot=False), usage("", spot=True), WARM_POOL.format(""))
    if name.startswith("ml.") and name.endswith(ends):
        return True
    both = (per_job, across_jobs)
    return name in (RUNTIME, VOLUME) or any(name == named(spot=spot) for named in both for spot in (False, True))


def _kind(spot: bool) -> str:
    return "spot training" if spot else "training"
