"""The URI of an ECR repository contains an account and a region."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.image_repository import names_registry
from smspec.spec.model import BuiltImage, JobSpec

RULE = Rule("SM304", "repository without a region")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a built image whose URI is incomplete. The account defaults to that of the execution role."""
    image = job.image
    if not isinstance(image, BuiltImage) or job.region or names_registry(image.repository or ""):
        return
    yield RULE.at(
        ("image", "repository") if image.repository else ("image",),
        "`region` is not set; the ECR image URI needs it",
        help="set `region`, or set `image.repository` to a full registry and path",
        on="value" if image.repository else "key",
    )
