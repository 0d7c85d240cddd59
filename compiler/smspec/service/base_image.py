"""The base image of a job that builds its image, if it is an image of AWS."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.service.known_images import without_known_images
from smspec.service.request import Request
from smspec.service.request_rules.images import (
    account_of_a_different_region,
    repository_of_a_different_account,
    unlisted_image_tag,
)
from smspec.source import Path

_BASE: Path = ("image", "base")
# The processor and the end of patch of the image are a matter of what the build changes.
_RULES = (account_of_a_different_region, repository_of_a_different_account, unlisted_image_tag)


def base_image_findings(base: str, known: tuple[str, ...]) -> list[Finding]:
    """Return why a registry does not have a base image; ``known`` as for `without_known_images`.

    The build pulls it from the region of its host name, whatever the region of the job is.
    """
    request = Request(payload={"AlgorithmSpecification": {"TrainingImage": base}})
    found = (finding.renamed(_BASE) for rule in _RULES for finding in rule(request))
    return without_known_images(found, request, known)
