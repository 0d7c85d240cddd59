"""AlgorithmSpecification: the image."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.service.image_reference import parsed_reference
from smspec.service.patterns import matches, shown
from smspec.service.request import Request
from smspec.service.shapes import structure
from smspec.source import Path

IMAGE_WITH_AN_ALGORITHM_NAME = Rule("SM423", "image together with an algorithm name", evidence="api-doc")


def image_with_an_algorithm_name(request: Request) -> Iterator[Finding]:
    """Reject TrainingImage together with AlgorithmName.

    An algorithm resource has its own image.
    """
    if {"TrainingImage", "AlgorithmName"} <= structure(request.payload, "AlgorithmSpecification").keys():
        yield IMAGE_WITH_AN_ALGORITHM_NAME.at(
            ("AlgorithmSpecification", "AlgorithmName"),
            f"{HERE} cannot be combined with `{request.word('TrainingImage', 'image')}`",
            help="remove one of them: an algorithm resource has its own image",
            on="key",
        )


IMAGE_OUTSIDE_ECR_WITHOUT_VPC_ACCESS = Rule(
    "SM437", "image outside ECR without VPC access", evidence="api-doc", needs_every_layer=True
)

_VPC_ACCESS = "TrainingImageConfig: {TrainingRepositoryAccessMode: Vpc}"

_VPC_ACCESS_KEY = f"api: {{AlgorithmSpecification: {{{_VPC_ACCESS}}}}}"


def image_outside_ecr_without_vpc_access(request: Request) -> Iterator[Finding]:
    """Reject an image of a different registry unless TrainingRepositoryAccessMode is Vpc.

    SageMaker reaches a registry other than Amazon ECR only through a VPC.
    """
    image = request.image
    if image is None or image.registry is None or request.access_mode != "Platform":
        return
    # A misspelled ECR registry is reported as such.
    if image.is_in_ecr or image.is_meant_for_ecr:
        return
    here: Path = ("AlgorithmSpecification", "TrainingImageConfig")
    is_set = "TrainingRepositoryAccessMode" in structure(request.algorithm, "TrainingImageConfig")
    yield IMAGE_OUTSIDE_ECR_WITHOUT_VPC_ACCESS.at(
        (*here, "TrainingRepositoryAccessMode") if is_set else here,
        f"`{request.word('TrainingImage', 'image')}` is in `{shown(image.registry)}`, which requires VPC access",
        help=f"copy the image to Amazon ECR, or set `{request.word(_VPC_ACCESS, _VPC_ACCESS_KEY)}`",
        cause=("AlgorithmSpecification", "TrainingImage"),
    )


IMAGE_WITHOUT_A_FULL_REFERENCE = Rule("SM436", "image without a full reference", evidence="api-doc")

_LONGEST_REFERENCE = 255

# The URI of an image that smspec builds is incomplete if the role has no account, or the spec no region: both are
# reported at these keys.
_UNFINISHED = r"\.dkr\.ecr\.|[0-9]+\.dkr\.ecr\.\."


def image_without_a_full_reference(request: Request) -> Iterator[Finding]:
    """Reject a TrainingImage that is not `registry/repository[:tag]` or `registry/repository[@digest]`.

    SageMaker pulls an image by registry, repository, and one tag or digest.
    """
    text = request.algorithm.get("TrainingImage")
    # A longer string, or one of several lines, is reported by its shape.
    if not isinstance(text, str) or len(text) > _LONGEST_REFERENCE or not matches(".*", text):
        return
    if request.in_spec_words and not request.tagged_image and re.match(_UNFINISHED, text):
        return
    fault, way_out = _reference_fault(text)
    if fault:
        near = _short_name(text) if request.in_spec_words else None
        label = f"did you mean `{near}`?" if near else ""
        yield IMAGE_WITHOUT_A_FULL_REFERENCE.at(
            ("AlgorithmSpecification", "TrainingImage"), fault, help=way_out, label=label
        )


def _short_name(text: str) -> str | None:
    """Return the short name of an image of AWS that is probably meant, which specs may use instead of a URI."""
    repository, colon, tag = text.partition(":")
    if "/" in text:
        return None
    # Imported late: it reads the table.
    from smspec.service.facts.images import repositories

    near = nearest(repository, repositories())
    return f"{near}{colon}{tag}" if near else None


def _reference_fault(text: str) -> tuple[str, str]:
    image = parsed_reference(text)
    if re.search(r"\s", text):
        return f"{HERE} contains a space: `{shown(text)}`", "remove the space"
    if "://" in text:
        return f"{HERE} contains a scheme", f"remove `{shown(text.partition('://')[0])}://`"
    if image is None:
        return (
            f"{HERE} is not a valid image reference: `{shown(text)}`",
            "use `registry/repository:tag` or `registry/repository@sha256:…`, with a lowercase repository",
        )
    if image.registry is None:
        return (
            f"{HERE} has no registry: `{shown(text)}`",
            "add `<account>.dkr.ecr.<region>.amazonaws.com/`; SageMaker has no default registry",
        )
    if image.is_meant_for_ecr and not image.is_in_ecr and image.wrong_suffix is None:
        return (
            f"{HERE} has an invalid Amazon ECR registry: `{shown(image.registry)}`",
            "use `<12 digits>.dkr.ecr.<region>.amazonaws.com`",
        )
    if image.tag is not None and image.digest is not None:
        return f"{HERE} has both a tag and a digest", "remove the tag: a digest always names the same image"
    return "", ""


MUTABLE_IMAGE_REFERENCE = Rule("SM332", "mutable image reference", "warning", evidence="policy")


def mutable_image_reference(request: Request) -> Iterator[Finding]:
    """Warn about an image without tag and digest, and about the tag `latest`.

    When a tag moves, the same request is a different job.
    """
    image = request.image
    if image is None or image.registry is None or image.digest is not None or image.tag not in (None, "latest"):
        return
    label = "has no tag, which means `latest`" if image.tag is None else "uses the mutable tag `latest`"
    yield MUTABLE_IMAGE_REFERENCE.at(
        ("AlgorithmSpecification", "TrainingImage"),
        f"`{request.word('TrainingImage', 'image')}` {label}",
        help="use a tag that does not move, or the digest, `@sha256:…`",
    )


NEITHER_IMAGE_NOR_ALGORITHM_NAME = Rule("SM424", "neither image nor algorithm name", evidence="api-doc")


def neither_image_nor_algorithm_name(request: Request) -> Iterator[Finding]:
    """Reject an AlgorithmSpecification without an algorithm.

    A job must name what it runs.
    """
    algorithm = structure(request.payload, "AlgorithmSpecification")
    if algorithm and not {"TrainingImage", "AlgorithmName"} & algorithm.keys():
        yield NEITHER_IMAGE_NOR_ALGORITHM_NAME.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"`{request.word('AlgorithmSpecification.TrainingImage', 'image')}` is not set",
            help=f"set `{request.word('TrainingImage', 'image')}`, or"
            f" `{request.word('AlgorithmName', 'api: {AlgorithmSpecification: {AlgorithmName: …}}')}`",
        )


REGISTRY_CREDENTIALS_WITHOUT_VPC_ACCESS = Rule(
    "SM334", "registry credentials without Vpc access", "warning", evidence="api-doc"
)


def registry_credentials_without_vpc_access(request: Request) -> Iterator[Finding]:
    """Warn about TrainingRepositoryAuthConfig where the platform itself pulls the image.

    Only a private registry in a VPC uses credentials.
    """
    here = "TrainingRepositoryAuthConfig"
    if request.access_mode == "Platform" and here in structure(request.algorithm, "TrainingImageConfig"):
        yield REGISTRY_CREDENTIALS_WITHOUT_VPC_ACCESS.at(
            ("AlgorithmSpecification", "TrainingImageConfig", here),
            "`TrainingRepositoryAuthConfig` has no effect: `TrainingRepositoryAccessMode` is `Platform`",
            help="remove it, or set `TrainingRepositoryAccessMode: Vpc`",
            on="key",
        )


VPC_ACCESS_TO_ECR = Rule("SM333", "Vpc access to an image in ECR", "warning", evidence="api-doc")


def vpc_access_to_ecr(request: Request) -> Iterator[Finding]:
    """Warn about TrainingRepositoryAccessMode Vpc with an image in Amazon ECR.

    The platform pulls from ECR; Vpc is for private Docker registries.
    """
    image = request.image
    if image is not None and image.is_in_ecr and request.access_mode == "Vpc":
        yield VPC_ACCESS_TO_ECR.at(
            ("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode"),
            "`TrainingRepositoryAccessMode` is `Vpc`, but the image is in Amazon ECR",
            help="remove `TrainingImageConfig`; the default, `Platform`, is for ECR",
        )


VPC_ACCESS_WITHOUT_VPC = Rule("SM438", "VPC access without a VPC", evidence="devguide", needs_every_layer=True)


def vpc_access_without_vpc(request: Request) -> Iterator[Finding]:
    """Reject TrainingRepositoryAccessMode Vpc in a job without VpcConfig.

    A registry that is reached through a VPC needs one.
    """
    if request.access_mode == "Vpc" and "VpcConfig" not in request.payload:
        yield VPC_ACCESS_WITHOUT_VPC.at(
            ("VpcConfig",),
            f"`{request.word('VpcConfig', 'network')}` is not set, but the image requires VPC access",
            help=f"set `{request.word('VpcConfig', 'network')}` to subnets and security groups",
            cause=("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode"),
        )


RULES = {
    image_with_an_algorithm_name: ("AlgorithmSpecification.AlgorithmName",),
    image_outside_ecr_without_vpc_access: ("AlgorithmSpecification.TrainingImage",),
    image_without_a_full_reference: ("AlgorithmSpecification.TrainingImage",),
    mutable_image_reference: ("AlgorithmSpecification.TrainingImage",),
    neither_image_nor_algorithm_name: (),
    registry_credentials_without_vpc_access: ("AlgorithmSpecification.TrainingImageConfig",),
    vpc_access_to_ecr: ("AlgorithmSpecification.TrainingImageConfig",),
    vpc_access_without_vpc: ("AlgorithmSpecification.TrainingImageConfig",),
}
