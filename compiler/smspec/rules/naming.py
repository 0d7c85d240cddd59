"""Rules about short names of images, such as `pytorch-training:2.5.1-gpu`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.image_names import NamedImage, Unavailable

UNKNOWN_IMAGE_NAME = Rule("SM487", "unknown image name", instead_of="SM436")


def unknown_image_name(named: NamedImage) -> Iterator[Finding]:
    """Reject a name without an image, or with several.

    A short name must name one image in the region of the job.
    """
    if isinstance(named.uri, Unavailable):
        near = named.uri.suggestion
        yield UNKNOWN_IMAGE_NAME.at(
            named.path,
            f"{HERE}: {named.uri.reason}",
            label=f"did you mean `{near}`?" if near else "",
            help=named.uri.help,
        )


IMAGE_NAME_MISSING_FROM_THE_LOCK = Rule("SM383", "image name missing from the lockfile", "warning")


def image_name_missing_from_the_lock(named: NamedImage) -> Iterator[Finding]:
    """Warn about a name that smspec expanded from its table.

    The table of images grows with each version of smspec; the lockfile keeps what a name means.
    """
    if isinstance(named.uri, str) and not named.is_locked:
        yield IMAGE_NAME_MISSING_FROM_THE_LOCK.at(
            named.path,
            f"{HERE} is a name that is not in smspec.lock; a newer smspec might expand it differently",
            help="run `smspec lock`, and commit smspec.lock",
        )


RULES: tuple[Callable[[NamedImage], Iterator[Finding]], ...] = (unknown_image_name, image_name_missing_from_the_lock)


def naming_findings(named: NamedImage) -> list[Finding]:
    """Return every finding about the short name of an image."""
    return [finding for rule in RULES for finding in rule(named)]
