"""The digest of what was compiled: what the job comes to, not how its spec is written."""

from __future__ import annotations

from smspec.plan.naming import digest
from smspec.plan.plan import Plan


def compiled_digest(plan: Plan) -> str:
    """Return the SHA-256 of the request and of what names the image's content, whatever the order of keys.

    Comments, spelling, the files that a spec is cut into and where they are, and keys that reach neither the request
    nor the image (`description`, `local`, `checks`) change nothing.
    """
    return digest({"request": plan.request.payload, "image": plan.image and plan.image.tag})
