"""Images of AWS that an organization knows better than the tables: tags and registries that are newer."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics import Finding
from smspec.service.image_reference import parsed_reference
from smspec.service.request import Request

_OF_THE_TABLES = frozenset({"SM384", "SM385", "SM488"})
"""The account has no such repository, the tag is not listed, the account has no images in the region."""


def without_known_images(findings: Iterable[Finding], request: Request, known: tuple[str, ...]) -> list[Finding]:
    """Return findings without those that contradict ``known``: ``REPOSITORY:TAG``, with a registry or without one."""
    image = parsed_reference(request.tagged_image) or request.image
    names = (
        () if image is None else (f"{image.repository}:{image.tag}", f"{image.registry}/{image.repository}:{image.tag}")
    )
    is_known = any(name in known for name in names)
    return [finding for finding in findings if not (is_known and finding.code in _OF_THE_TABLES)]
