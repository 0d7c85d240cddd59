"""Find the policy for a directory; most repositories have none, which takes one lookup."""

from __future__ import annotations

from smspec.organization.organization_config import MalformedConfig, organization_config_in
from smspec.service.policy import Policy
from smspec.workspace.boundary import Boundary
from smspec.workspace.nearest import Nearest


def policy_of(directory: str, boundary: Boundary) -> Policy | None:
    """Return the policy that applies to a directory, or None. Raises `InvalidInput` for an invalid one."""
    return Nearest(policy_in).of(directory, boundary)


def policy_in(directory: str, boundary: Boundary) -> Policy | None:
    """Return the policy in a file of the directory itself, or None. Raises as `policy_of` does."""
    try:
        file = organization_config_in(directory, boundary)
    except MalformedConfig as malformed:
        from smspec.organization.policy_file import rejected

        raise rejected(malformed) from None
    if file is None:
        return None
    # Imported late: reading a policy takes longer than the checks of a spec.
    from smspec.organization.policy_file import read_policy

    return read_policy(file)
