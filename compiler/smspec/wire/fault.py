"""The errors of a server, as sentences that continue `HOST: …`: lower case, no full stop."""

from __future__ import annotations


class WireFault(Exception):
    """No usable response: the server is slow, gone, wrong, or denies access."""


class ConnectionBroken(WireFault):
    """The connection failed or broke. The same request may succeed a moment later."""


class DeadlineMissed(WireFault):
    """The server exceeded its time limit."""


class BadResponse(WireFault):
    """The response is invalid. Sending the request again would not change that."""


class TooLarge(BadResponse):
    """The response is larger than the caller accepts."""
