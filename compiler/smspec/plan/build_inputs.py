"""The inputs of a plan besides the spec: the files that are sent, and the digests of the templates and the runtime."""

from __future__ import annotations

from smspec.source.frozen import dataclass
from smspec.source.listing import Listing
from smspec.spec.lock import Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildInputs:
    """``templates`` is the digest of the templates; ``requirements`` the content of `python_requirements`.

    ``lock`` is the lock of the repository, None without one; ``requirements_name`` the file's name in it.
    """

    source: Listing
    runtime: Listing
    templates: str
    requirements: bytes | None = None
    requirements_name: str = ""
    lock: Lock | None = None
