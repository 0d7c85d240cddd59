"""What the status of a registry's response means."""

from __future__ import annotations

from smspec.diagnostics.quoting import continued
from smspec.wire.exchange import Response
from smspec.wire.fault import BadResponse
from smspec.wire.json_body import object_body

_MEANINGS = {
    401: "it requires credentials",
    403: "access denied",
    404: "no such image or tag",
    429: "too many requests from this address; try again later",
}


class NotFound(BadResponse):
    """There is no such tag, or no such repository."""


class AccessDenied(BadResponse):
    """The registry requires other credentials. ``reason``: its own words."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


class Busy(BadResponse):
    """The registry throttles, or fails for a while."""


def fault_of(response: Response) -> BadResponse:
    """Return the exception for a response that is no success."""
    text = _MEANINGS.get(response.status, f"it responds {response.status} {response.reason}".rstrip())
    if response.status == 404:
        return NotFound(text)
    if response.status in (401, 403):
        return AccessDenied(text, _reason(response))
    return Busy(text) if response.status == 429 or response.status >= 500 else BadResponse(text)


def _reason(response: Response) -> str:
    """Return the message of the first error that a registry lists; empty where it lists none."""
    try:
        listed = object_body(response.body).get("errors")
    except BadResponse:
        return ""
    first = listed[0] if isinstance(listed, list) and listed else None
    return continued(str(first.get("message", "")))[:600] if isinstance(first, dict) else ""
