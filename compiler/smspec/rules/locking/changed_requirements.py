"""A lockfile is valid only for the requirements files it was made from."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.locking.pinning import Pinning
from smspec.spec.lock import content_digest

RULE = Rule("SM722", "requirements that changed after locking", "warning")


def check(pinning: Pinning) -> Iterator[Finding]:
    """Warn about a requirements file that has changed since the lock, or is not in it."""
    if pinning.requirements is None or pinning.packages != "not locked":
        return  # the locked packages are checked instead
    locked = pinning.lock.requirements.get(pinning.requirements_name)
    if locked != content_digest(pinning.requirements):
        yield RULE.at(
            ("image", "python_requirements"),
            f"`{pinning.requirements_name}` "
            + ("is not in smspec.lock" if locked is None else "does not match smspec.lock"),
            help="run `smspec lock`, and commit smspec.lock",
        )
