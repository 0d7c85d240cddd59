"""The grammar of image references, as registries and engines parse them, and their parts."""

from __future__ import annotations

import re
from functools import lru_cache

from smspec.service.arns import registry_suffix
from smspec.source.frozen import dataclass

# Patterns are strings, compiled only when a request needs them.
SHA256 = r"sha256:[0-9a-f]{64}"
"""The digest that a lock pins an image to."""

DIGEST = rf"{SHA256}|sha512:[0-9a-f]{{128}}"
"""A digest in an image reference or in a lock."""

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_REGISTRY = rf"(?:localhost|{_LABEL}(?:\.{_LABEL})+|{_LABEL}(?:\.{_LABEL})*(?=:)|\[[0-9a-fA-F:]+\])(?::[0-9]{{1,5}})?"
_REFERENCE = (
    rf"(?P<name>(?:(?P<registry>{_REGISTRY})/)?(?P<repository>{_COMPONENT}(?:/{_COMPONENT})*))"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    rf"(?:@(?P<digest>{DIGEST}))?"
)
_ECR = r"(?P<account>[0-9]{12})\.dkr(?P<joint>[.-])ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.(?P<suffix>.+)"
_LIKE_ECR = r".*\.dkr[.-]ecr\b.*"
_HUB = (None, "docker.io", "index.docker.io", "registry-1.docker.io")
_LONGEST_NAME = 255
_LONGEST_REFERENCE = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReference:
    """The parts of ``[registry/]repository[:tag][@digest]``; None for a missing part."""

    registry: str | None
    repository: str
    tag: str | None
    digest: str | None

    @property
    def official_name(self) -> str:
        """The name of an official image of Docker Hub, or of a copy that keeps ``library/``; empty for any other."""
        above, _, name = self.repository.rpartition("/")
        return name if above.split("/")[-1] == "library" or (not above and self.registry in _HUB) else ""

    @property
    def account(self) -> str | None:
        """The AWS account of a private ECR registry."""
        return self._ecr.account if self._ecr else None

    @property
    def region(self) -> str | None:
        """The region of a private ECR registry."""
        return self._ecr.region if self._ecr else None

    @property
    def is_in_ecr(self) -> bool:
        """Whether the image is in a private registry of Amazon ECR. SageMaker does not pull from `public.ecr.aws`."""
        return self.account is not None

    @property
    def is_meant_for_ecr(self) -> bool:
        """Whether the registry is a private Amazon ECR registry, possibly misspelled."""
        return _is_like_ecr(self.registry or "")

    @property
    def wrong_suffix(self) -> EcrSuffix | None:
        """How the host name ends, if it only begins like that of an ECR registry: anyone may have such a host."""
        found = _of_ecr(self.registry or "")
        return found if found is not None and found.suffix != found.expected else None

    @property
    def _ecr(self) -> EcrSuffix | None:
        found = _of_ecr(self.registry or "")
        return found if found is not None and found.suffix == found.expected else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EcrSuffix:
    """The parts of a host name that begins like that of an ECR registry. ``expected``: the suffix of its region."""

    account: str
    region: str
    suffix: str
    expected: str


@lru_cache(maxsize=256)
def _of_ecr(registry: str) -> EcrSuffix | None:
    match = re.fullmatch(_ECR, registry)
    expected = registry_suffix(match["region"], is_dual_stack=match["joint"] == "-") if match else None
    if match is None or expected is None:
        return None
    return EcrSuffix(account=match["account"], region=match["region"], suffix=match["suffix"], expected=expected)


@lru_cache(maxsize=256)
def _is_like_ecr(registry: str) -> bool:
    return re.fullmatch(_LIKE_ECR, registry) is not None


def is_image_reference(text: str) -> bool:
    """Return whether a string is ``[registry/]name[:tag][@digest]``; these contain no space, ``$``, or flag."""
    return parsed_reference(text) is not None


@lru_cache(maxsize=256)  # several rules use it, and jobs share images
def parsed_reference(text: str) -> ImageReference | None:
    """Parse a reference; None if the string is not one."""
    match = re.fullmatch(_REFERENCE, text) if len(text) <= _LONGEST_REFERENCE else None
    if match is None or len(match["name"]) > _LONGEST_NAME:
        return None
    return ImageReference(
        registry=match["registry"], repository=match["repository"], tag=match["tag"], digest=match["digest"]
    )
