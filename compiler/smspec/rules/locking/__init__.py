"""What a job leaves open though its repository has a lock: one file a rule, named after the bad thing."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.rules.locking import (
    base_without_a_digest,
    package_without_a_version,
    requirements_that_changed_since_they_were_locked,
)
from smspec.rules.locking.pinning import Check, Pinning

RULES: tuple[Check, ...] = (
    base_without_a_digest.check,
    package_without_a_version.check,
    requirements_that_changed_since_they_were_locked.check,
)


def unpinned(pinning: Pinning) -> list[Finding]:
    """Return everything that a job leaves open."""
    return [finding for rule in RULES for finding in rule(pinning)]
