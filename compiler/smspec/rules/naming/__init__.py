"""Rules about short names of images, ``pytorch-training:2.5.1-gpu``: one file per rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.naming import image_name_missing_from_the_lock, unknown_image_name
from smspec.service.named_image import NamedImage

RULES: tuple[Callable[[NamedImage], Iterator[Finding]], ...] = (
    unknown_image_name.check,
    image_name_missing_from_the_lock.check,
)


def naming_findings(named: NamedImage) -> list[Finding]:
    """Return every finding about the short name of an image."""
    return [finding for rule in RULES for finding in rule(named)]
