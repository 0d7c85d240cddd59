"""Calls that are sent again while AWS or a registry throttles them or fails, for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from smspec.wire.aws import AwsRefused
from smspec.wire.fault import WireFault

Answer = TypeVar("Answer")

BUDGET_SECONDS = 300.0
"""For one call and its repetitions: throttling of an account lasts as long as others call, mostly seconds."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0
THROTTLED = (
    *("Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestLimitExceeded"),
    *("TooManyRequestsException", "LimitExceeded", "SlowDown", "PriorRequestNotComplete"),
)
"""Error codes of a call that AWS accepts later."""

_TRANSIENT = (
    *THROTTLED,
    *("ServerException", "InternalFailure", "InternalServerError", "InternalError", "ServiceUnavailable"),
    *("ServiceUnavailableException", "500", "502", "503", "504"),
    *("ConditionalRequestConflict", "RequestTimeout"),  # of S3: a different upload of the object is under way
)


def _is_transient(fault: WireFault) -> bool:
    return isinstance(fault, AwsRefused) and fault.code in _TRANSIENT


def persistently(
    call: Callable[[], Answer],
    *,
    passes: Callable[[WireFault], bool] = _is_transient,
    budget: float = BUDGET_SECONDS,
) -> Answer:
    """Return what a call returns, after as many attempts as ``budget`` seconds allow. Raises what the last one raises.

    ``passes``: whether a fault may be gone later. botocore has repeated each attempt a few times itself.
    """
    waited, length = 0.0, _FIRST_PAUSE
    while True:
        try:
            return call()
        except WireFault as fault:
            if not passes(fault) or waited + length > budget:
                raise
        time.sleep(length)
        waited, length = waited + length, min(length * 2, _LONGEST_PAUSE)
