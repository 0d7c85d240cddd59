"""Which policy holds in a directory; most repositories have none, and pay for one look."""

from __future__ import annotations

from smspec.workspace.boundary import Boundary
from smspec.pipeline.organisation_file import MalformedFile, organisation_file
from smspec.service.policy import Policy


def policy_of(directory: str, boundary: Boundary) -> Policy | None:
    """Return the policy that holds in a directory; None without one. Raises `Rejected` for what cannot be meant."""
    try:
        file = organisation_file(directory, boundary)
    except MalformedFile as malformed:
        from smspec.pipeline.policy_file import rejected

        raise rejected(malformed) from None
    if file is None:
        return None
    # Late: reading a policy takes longer than the checks of a spec.
    from smspec.pipeline.policy_file import read_policy

    return read_policy(file)
