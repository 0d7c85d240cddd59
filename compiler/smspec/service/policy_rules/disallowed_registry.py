"""Code that processes the data of an organization must come from trusted registries."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM743", "disallowed registry", evidence="policy")

_HUB = "docker.io"
_HUBS = (None, "docker.io", "index.docker.io", "registry-1.docker.io")


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject an image from a registry that is not allowed."""
    yield from _findings(("AlgorithmSpecification", "TrainingImage"), request.image, policy)


def check_base(base: str, policy: Policy) -> Iterator[Finding]:
    """Reject, at its place in the spec, a base image from a registry that is not allowed."""
    yield from _findings(("image", "base"), parsed_reference(base), policy)


def _findings(path: Path, image: ImageReference | None, policy: Policy) -> Iterator[Finding]:
    allowed = policy.allowed_registries
    if allowed is None or image is None:
        return
    is_of_the_hub = image.registry in _HUBS
    registry = _HUB if is_of_the_hub else str(image.registry)
    # Docker Hub keeps images without an owner in their name under `library`.
    is_official = is_of_the_hub and "/" not in image.repository
    place = f"{registry}/{'library/' if is_official else ''}{image.repository}"
    if not any(f"{place}/".startswith(f"{entry.rstrip('/')}/") for entry in allowed):
        yield RULE.at(
            path,
            f"`{policy.file_of('allowed_registries')}` does not allow images from `{registry}`",
            help=f"use {one_of(allowed)}" if allowed else "ask the policy owner",
        )
