"""What a server can do wrong, as sentences that continue `HOST: …`: lower case, no full stop."""

from __future__ import annotations


class WireFault(Exception):
    """No usable response: the server is slow, gone, lying, or does not let us in."""


class ConnectionBroken(WireFault):
    """The connection failed or broke. The same request may succeed a moment later."""


class DeadlineMissed(WireFault):
    """The server had its time."""


class BadResponse(WireFault):
    """The response is not what it must be. Sending the request again would not change that."""
