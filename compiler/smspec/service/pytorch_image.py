"""The version of PyTorch in an image of AWS, as its tag shows it."""

from __future__ import annotations

import re

from smspec.service.image_reference import ImageReference

_REPOSITORIES = ("pytorch", "pytorch-training")


def pytorch_version(image: ImageReference | None) -> tuple[int, ...] | None:
    """Return the version in the tag; None for any other image, or a tag without one."""
    if image is None or image.account is None or image.repository not in _REPOSITORIES:
        return None
    match = re.match(r"([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,3}))?(?=-)", image.tag or "")
    return tuple(int(part or 0) for part in match.groups()) if match else None
