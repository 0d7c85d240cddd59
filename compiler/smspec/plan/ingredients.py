"""What a plan is made of beside the spec: the files that will travel, and the digests of what writes the rest."""

from __future__ import annotations

from smspec.source.frozen import dataclass
from smspec.source.listing import Listing


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredients:
    """``templates`` is the digest of our templates; ``requirements`` what the file of `python_requirements` holds."""

    source: Listing
    runtime: Listing
    templates: str
    requirements: bytes | None = None
