"""A lock of packages is valid only for the base image and the requirements that it was made for."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.locking.pinning import Pinning
from smspec.source import dotted

RULE = Rule("SM730", "packages missing from the lock", "warning")


def check(pinning: Pinning) -> Iterator[Finding]:
    """Warn about packages that are not locked in a repository where those of other images are."""
    if pinning.packages == "missing":
        path = pinning.packages_path
        yield RULE.at(
            path,
            f"smspec.lock does not have the packages of `{dotted(path)}`",
            help="run `smspec lock`, and commit smspec.lock and smspec.lock.d",
        )
