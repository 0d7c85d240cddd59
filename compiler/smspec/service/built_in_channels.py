"""The channels of a request against those of a built-in algorithm."""

from __future__ import annotations

from smspec.diagnostics.suggestions import nearest
from smspec.service.facts.algorithms import Algorithm
from smspec.service.request import Request, RequestedChannel

_ANNOTATION = "_annotation"


def missing_channels(request: Request, algorithm: Algorithm) -> list[str]:
    """Return the required channels that a request lacks; an augmented manifest contains annotations."""
    names = {channel.name for channel in request.channels}
    is_augmented = any(channel.s3_data_type == "AugmentedManifestFile" for channel in request.channels)
    return [
        name
        for name in algorithm.required_channels
        if name not in names and not (is_augmented and name.endswith(_ANNOTATION))
    ]


def meant_channels(request: Request, algorithm: Algorithm) -> list[tuple[RequestedChannel, str]]:
    """Return the channels with unknown names, and the name that each probably means; each name once."""
    free = [name for name in algorithm.channels if name not in {channel.name for channel in request.channels}]
    meant = []
    for channel in request.channels:
        if channel.name in algorithm.channels:
            continue
        name = _meant(channel.name, free)
        if name is not None:
            free.remove(name)
            meant.append((channel, name))
    return meant


def _meant(written: str, known: list[str]) -> str | None:
    """Return the known name that is similar, or that begins or continues the one in the request."""
    similar = nearest(written, known)
    if similar is not None:
        return similar
    word = written.lower()
    begun = [name for name in known if word.startswith(name) or (len(word) >= 3 and name.startswith(word))]
    return max(begun, key=len) if begun else None
