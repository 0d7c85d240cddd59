"""The table of images grows with each version of smspec; the lockfile keeps what a name means."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.named_image import NamedImage

RULE = Rule("SM383", "image name missing from the lockfile", "warning")


def check(named: NamedImage) -> Iterator[Finding]:
    """Warn about a name that smspec expanded from its table."""
    if isinstance(named.uri, str) and not named.is_locked:
        yield RULE.at(
            named.path,
            f"{HERE} is a name that is not in smspec.lock; a newer smspec might expand it differently",
            help="run `smspec lock`, and commit smspec.lock",
        )
