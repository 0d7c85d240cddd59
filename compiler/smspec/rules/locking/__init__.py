"""What a job leaves open though its repository has a lock: one file a rule, named after the bad thing."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.rules.locking import (
    changed_requirements,
    unpinned_base_image,
    unpinned_package,
)
from smspec.rules.locking.pinning import Check, Pinning

RULES: tuple[Check, ...] = (
    unpinned_base_image.check,
    unpinned_package.check,
    changed_requirements.check,
)


def unpinned(pinning: Pinning) -> list[Finding]:
    """Return everything that a job leaves open."""
    return [finding for rule in RULES for finding in rule(pinning)]
