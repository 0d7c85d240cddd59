"""The errors of a server, as sentences that continue `HOST: …`: lower case, no full stop; and its time limit.

The limit is for a whole response, however it is distributed over that time.
"""

from __future__ import annotations

import os
import re
import time

TIMEOUT_VARIABLE = "SMSPEC_HTTP_TIMEOUT"
TIMEOUT = 60.0
"""Seconds for a response, unless the variable sets a different number."""

LEAST_RATE = 8 << 10
"""Bytes that extend the limit by a second, so that large responses arrive over slow lines, and a trickle does not."""


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


def timeout() -> float:
    """Return the time limit of a server in seconds.

    Raise `WireFault` for a variable that is not a number of seconds.
    """
    written = os.environ.get(TIMEOUT_VARIABLE, "")
    if not written:
        return TIMEOUT
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", written) or not float(written):
        raise WireFault(f"{TIMEOUT_VARIABLE} is `{written[:40]}`; set it to a number of seconds, such as 60")
    return float(written)


class Deadline:
    """A time limit for all attempts of a request; received data extend it a little."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = timeout() if seconds is None else seconds
        self._end = time.monotonic() + self.seconds

    def left(self) -> float:
        """Return the seconds that are left, more than zero. Raise `DeadlineMissed`."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.missed()
        return left

    def received(self, size: int) -> None:
        """Extend the limit for bytes that arrived."""
        self._end += size / LEAST_RATE

    def missed(self) -> DeadlineMissed:
        """Return the exception for a server that exceeded the limit."""
        return DeadlineMissed(f"no complete response within {self.seconds:g} s; {TIMEOUT_VARIABLE} sets a longer time")
