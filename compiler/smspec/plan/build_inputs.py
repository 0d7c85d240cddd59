"""What a plan is made of beside the spec: the files that will travel, and the digests of what writes the rest."""

from __future__ import annotations

from smspec.source.frozen import dataclass
from smspec.source.listing import Listing
from smspec.spec.lock import Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildInputs:
    """``templates`` is the digest of our templates; ``requirements`` what the file of `python_requirements` holds.

    ``lock`` is what the repository has pinned, None without a lock; ``requirements_name`` what that calls the file.
    """

    source: Listing
    runtime: Listing
    templates: str
    requirements: bytes | None = None
    requirements_name: str = ""
    lock: Lock | None = None
