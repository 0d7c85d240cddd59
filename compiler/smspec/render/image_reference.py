"""The grammar of image references, as registries and engines read them."""

from __future__ import annotations

import re

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_REGISTRY = rf"(?:localhost|{_LABEL}(?:\.{_LABEL})+|{_LABEL}(?:\.{_LABEL})*(?=:)|\[[0-9a-fA-F:]+\])(?::[0-9]{{1,5}})?"
_REFERENCE = (
    rf"(?P<name>(?:{_REGISTRY}/)?{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    r"(?:@(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}))?"
)
_LONGEST_NAME = 255


def is_image_reference(text: str) -> bool:
    """Tell whether a text is ``[registry/]name[:tag][@digest]``; none of these can hold a blank, ``$`` or a flag."""
    match = re.fullmatch(_REFERENCE, text) if len(text) <= 1024 else None
    return match is not None and len(match["name"]) <= _LONGEST_NAME
