"""SageMaker pulls an image by registry, repository, and one tag or digest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.image_reference import parsed_reference
from smspec.service.member_names import shown
from smspec.service.patterns import matches
from smspec.service.request import Request

RULE = Rule("SM436", "image without a full reference", evidence="api-doc")

_LONGEST = 255
# The address of an image that smspec builds has a hole where the role has no account, or the spec no region: both are
# told where they belong.
_UNFINISHED = r"\.dkr\.ecr\.|[0-9]+\.dkr\.ecr\.\."


def check(request: Request) -> Iterator[Finding]:
    """Refuse a TrainingImage that is not `registry/repository[:tag]` or `registry/repository[@digest]`."""
    text = request.algorithm.get("TrainingImage")
    # What is longer, or has several lines, is told by its shape.
    if not isinstance(text, str) or len(text) > _LONGEST or not matches(".*", text):
        return
    if request.in_spec_words and re.match(_UNFINISHED, text):
        return
    fault, way_out = _fault(text)
    if fault:
        yield RULE.at(("AlgorithmSpecification", "TrainingImage"), fault, help=way_out)


def _fault(text: str) -> tuple[str, str]:
    image = parsed_reference(text)
    if re.search(r"\s", text):
        return f"the address of the image holds a blank: `{shown(text)}`", "write it without blanks"
    if "://" in text:
        return "the address of an image has no scheme", f"leave `{shown(text.partition('://')[0])}://` out"
    if image is None:
        return (
            f"`{shown(text)}` is not the address of an image",
            "write `registry/repository:tag` or `registry/repository@sha256:…`, the repository in lower case",
        )
    if image.registry is None:
        return (
            f"`{shown(text)}` names no registry",
            "SageMaker knows no default one: write `<account>.dkr.ecr.<region>.amazonaws.com/` before it",
        )
    if image.is_meant_for_ecr and not image.is_in_ecr:
        return (
            f"`{shown(image.registry)}` is not a registry of Amazon ECR",
            "write `<12 digits>.dkr.ecr.<region>.amazonaws.com`",
        )
    if image.tag is not None and image.digest is not None:
        return "the image has both a tag and a digest", "keep one of them; the digest stays the same image for ever"
    return "", ""
