"""SageMaker pulls an image by registry, repository, and one tag or digest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.service.image_reference import parsed_reference
from smspec.service.member_names import shown
from smspec.service.patterns import matches
from smspec.service.request import Request

RULE = Rule("SM436", "image without a full reference", evidence="api-doc")

_LONGEST = 255
# The URI of an image that smspec builds is incomplete if the role has no account, or the spec no region: both are
# reported at these keys.
_UNFINISHED = r"\.dkr\.ecr\.|[0-9]+\.dkr\.ecr\.\."


def check(request: Request) -> Iterator[Finding]:
    """Reject a TrainingImage that is not `registry/repository[:tag]` or `registry/repository[@digest]`."""
    text = request.algorithm.get("TrainingImage")
    # A longer string, or one of several lines, is reported by its shape.
    if not isinstance(text, str) or len(text) > _LONGEST or not matches(".*", text):
        return
    if request.in_spec_words and not request.tagged_image and re.match(_UNFINISHED, text):
        return
    fault, way_out = _fault(text)
    if fault:
        near = _short_name(text) if request.in_spec_words else None
        label = f"did you mean `{near}`?" if near else ""
        yield RULE.at(("AlgorithmSpecification", "TrainingImage"), fault, help=way_out, label=label)


def _short_name(text: str) -> str | None:
    """Return the short name of an image of AWS that is probably meant, which specs may use instead of a URI."""
    repository, colon, tag = text.partition(":")
    if "/" in text:
        return None
    # Imported late: it reads the table.
    from smspec.service.facts.images import repositories

    near = nearest(repository, repositories())
    return f"{near}{colon}{tag}" if near else None


def _fault(text: str) -> tuple[str, str]:
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
