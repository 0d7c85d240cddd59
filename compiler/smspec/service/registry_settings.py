"""How repositories for images are created, as an organization sets it in ``[registry]``."""

from __future__ import annotations

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrySettings:
    """``create``: whether missing repositories are created at all. The rest is for those that are.

    ``keep_images``: how many images a repository keeps, the newest; None keeps all.
    """

    create: bool = True
    scan_on_push: bool = True
    immutable_tags: bool = True
    keep_images: int | None = None
