"""The image installs the locked requirements file, so its content must be the one that was locked."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.locking.pinning import Pinning

RULE = Rule("SM731", "missing or changed file of locked packages")


def check(pinning: Pinning) -> Iterator[Finding]:
    """Reject a requirements file next to the lock that is missing, or has other content than was locked."""
    if pinning.fault:
        yield RULE.at(
            pinning.packages_path,
            f"`{pinning.locked_file}` {pinning.fault}",
            help="restore the committed file, or run `smspec lock`",
        )
