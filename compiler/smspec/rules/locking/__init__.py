"""Rules about what a job does not pin although its repository has a lockfile: one file per rule."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.rules.locking import (
    changed_locked_packages,
    changed_requirements,
    packages_missing_from_the_lock,
    unpinned_base_image,
    unpinned_package,
)
from smspec.rules.locking.pinning import Check, Pinning

RULES: tuple[Check, ...] = (
    unpinned_base_image.check,
    unpinned_package.check,
    changed_requirements.check,
    packages_missing_from_the_lock.check,
    changed_locked_packages.check,
)


def unpinned(pinning: Pinning) -> list[Finding]:
    """Return a finding for everything that a job does not pin."""
    return [finding for rule in RULES for finding in rule(pinning)]
