"""A tag can point to a different image tomorrow; a digest cannot."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.locking.pinning import Pinning

RULE = Rule("SM720", "unpinned base image", "warning")


def check(pinning: Pinning) -> Iterator[Finding]:
    """Warn about a base image that neither the spec nor the lock pins."""
    base = pinning.image.base
    if "@" not in base and base not in pinning.lock.images:
        yield RULE.at(
            ("image", "base"),
            f"`image.base` is not pinned: `{base}` is not in smspec.lock",
            help="run `smspec lock`, and commit smspec.lock",
        )
