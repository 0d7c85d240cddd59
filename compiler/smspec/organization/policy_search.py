"""Find the policy for a directory; most repositories have none, which takes one lookup."""

from __future__ import annotations

from smspec.organization.organization_config import MalformedConfig, nearest_organization_config
from smspec.service.policy import Policy
from smspec.workspace.boundary import Boundary


def policy_of(directory: str, boundary: Boundary) -> Policy | None:
    """Return the policy for a directory; None without one. Raise `InvalidInput` for invalid values."""
    try:
        file = nearest_organization_config(directory, boundary)
    except MalformedConfig as malformed:
        from smspec.organization.policy_file import rejected

        raise rejected(malformed) from None
    if file is None:
        return None
    # Imported late: reading a policy takes longer than the checks of a spec.
    from smspec.organization.policy_file import read_policy

    return read_policy(file)
