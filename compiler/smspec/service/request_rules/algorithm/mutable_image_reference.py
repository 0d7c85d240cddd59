"""When a tag moves, the same request is a different job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM332", "mutable image reference", "warning", evidence="policy")


def check(request: Request) -> Iterator[Finding]:
    """Warn about an image without tag and digest, and about the tag `latest`."""
    image = request.image
    if image is None or image.registry is None or image.digest is not None or image.tag not in (None, "latest"):
        return
    label = "has no tag, which means `latest`" if image.tag is None else "uses the mutable tag `latest`"
    yield RULE.at(
        ("AlgorithmSpecification", "TrainingImage"),
        f"`{request.word('TrainingImage', 'image')}` {label}",
        help="use a tag that does not move, or the digest, `@sha256:…`",
    )
