"""The digest of a compiled job: of its result, not of how the spec is written."""

from __future__ import annotations

from smspec.plan.naming import digest
from smspec.plan.plan import Plan


def compiled_digest(plan: Plan) -> str:
    """Return the SHA-256 of the request and of what identifies the image's content, whatever the order of keys.

    Comments, spelling, the split of a spec into files and their paths, and keys that reach neither the request nor the
    image (`description`, `local`, `checks`) do not affect it.
    """
    return digest({"request": plan.request.payload, "image": plan.image and plan.image.tag})
