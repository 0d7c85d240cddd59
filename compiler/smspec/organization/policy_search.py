"""Find the policy for a directory; most repositories have none, which takes one lookup."""

from __future__ import annotations

import os

from smspec.organization.organization_config import MalformedConfig, organization_config_in
from smspec.service.policy import Policy
from smspec.service.prices import PriceBook
from smspec.source.frozen import replace
from smspec.workspace.boundary import Boundary
from smspec.workspace.nearest import Nearest
from smspec.workspace.organization_marker import DATED_FILES


def policy_of(directory: str, boundary: Boundary) -> Policy | None:
    """Return the policy that applies to a directory, or None. Raises `InvalidInput` for an invalid one."""
    return Nearest(policy_in).of(directory, boundary)


def policy_in(directory: str, boundary: Boundary) -> Policy | None:
    """Return the policy in a file of the directory itself, or None. Raises as `policy_of` does.

    The files of prices and quotas are next to it; without a policy, at the top of the repository.
    """
    try:
        file = organization_config_in(directory, boundary)
    except MalformedConfig as malformed:
        from smspec.organization.policy_file import rejected

        raise rejected(malformed) from None
    if file is None:
        is_top = os.path.realpath(directory) == boundary.root
        return _with_dated_files(Policy(path=""), directory, boundary) if is_top and _has_dated(directory) else None
    # Imported late: reading a policy takes longer than the checks of a spec.
    from smspec.organization.policy_file import read_policy

    policy = read_policy(file)
    return _with_dated_files(policy, directory, boundary) if _has_dated(directory) else policy


def _has_dated(directory: str) -> bool:
    return any(os.path.lexists(os.path.join(directory, name)) for name in DATED_FILES)


def _with_dated_files(policy: Policy, directory: str, boundary: Boundary) -> Policy:
    # Imported late: few repositories have these files.
    from smspec.organization.price_file import listed_prices
    from smspec.organization.quota_file import known_quotas

    prices = PriceBook(own=policy.prices.own, regions=listed_prices(directory, boundary))
    return replace(policy, prices=prices, quotas=known_quotas(directory, boundary))
