"""Push an image with the client of an engine: progress, attempts, and why a registry rejects it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from smspec.local.engines.containers.client import Client, ClientFailed

_PAUSES = (2.0, 5.0, 15.0)
"""Seconds between attempts. The clients repeat single requests themselves."""

_TRANSIENT = re.compile(
    r"too ?many ?requests|rate exceeded|throttl|\b(?:429|50[0234])\b|time(?:d )?out|connection (?:reset|refused)"
    r"|broken pipe|\bEOF\b|temporarily|internal server error|service unavailable",
    re.IGNORECASE,
)
_EXISTS = re.compile(r"already exists in the .* repository and cannot be overwritten", re.DOTALL)
_LAYER = re.compile(r"([0-9a-f]{12}): (Preparing|Waiting|Pushed|Layer already exists|Mounted from .*)")
_DIGEST = re.compile(r"digest: (sha256:[0-9a-f]{64})\b")


class PushRejected(Exception):
    """The push failed for good; the text is the last line of the client. ``details``: the last few."""

    def __init__(self, text: str, details: str) -> None:
        super().__init__(text)
        self.details = details


class TagExists(Exception):
    """The registry has the tag since a moment ago, and rejects a different image for it."""


def push_image(client: Client, uri: str, show: Callable[[str], None], *, is_verbose: bool) -> str:
    """Push an image; return the digest that the client prints, or an empty string. Raise PushRejected, TagExists."""
    show(f"pushing the image {uri}")
    options = ["--format", "v2s2"] if client.program == "podman" else []
    for pause in (*_PAUSES, None):
        progress = _Progress(show, is_verbose=is_verbose)
        try:
            client.follow("push", *options, uri, show=progress.line)
            return progress.digest
        except ClientFailed as fault:
            if _EXISTS.search(fault.details):
                raise TagExists from None
            if pause is None or not _TRANSIENT.search(fault.details):
                raise PushRejected(str(fault), fault.details) from None
            show(f"the registry fails: {fault}; trying again in {pause:.0f} s")
            time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


class _Progress:
    """Counts the layers that a client reports."""

    def __init__(self, show: Callable[[str], None], *, is_verbose: bool) -> None:
        self.digest = ""
        self._show = show
        self._is_verbose = is_verbose
        self._layers: dict[str, bool] = {}

    def line(self, text: str) -> None:
        digest, layer = _DIGEST.search(text), _LAYER.fullmatch(text)
        if digest:
            self.digest = digest[1]
        if self._is_verbose:
            self._show(text)
        elif layer:
            is_over = not layer[2].startswith(("Preparing", "Waiting"))
            if is_over and not self._layers.get(layer[1]):
                self._layers[layer[1]] = True
                self._show(f"pushed {sum(self._layers.values())} of {len(self._layers)} layers")
            self._layers.setdefault(layer[1], is_over)
        elif text.startswith("Copying blob "):
            self._show(text[:60])
