"""Calls of AWS that are sent again while AWS throttles them or fails, for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from smspec.wire.aws import AwsRefused

Answer = TypeVar("Answer")

BUDGET_SECONDS = 300.0
"""For one call and its repetitions: throttling of an account lasts as long as others call, mostly seconds."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0
_TRANSIENT = (
    *("Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestLimitExceeded"),
    *("TooManyRequestsException", "LimitExceeded", "SlowDown", "PriorRequestNotComplete"),
    *("ServerException", "InternalFailure", "InternalServerError", "InternalError", "ServiceUnavailable"),
    *("ServiceUnavailableException", "500", "502", "503", "504"),
)


def persistently(call: Callable[[], Answer]) -> Answer:
    """Return what a call returns, after as many attempts as `BUDGET_SECONDS` allow. Raises what the last one raises.

    botocore has repeated each attempt a few times itself.
    """
    waited, length = 0.0, _FIRST_PAUSE
    while True:
        try:
            return call()
        except AwsRefused as refusal:
            if refusal.code not in _TRANSIENT or waited + length > BUDGET_SECONDS:
                raise
        time.sleep(length)
        waited, length = waited + length, min(length * 2, _LONGEST_PAUSE)
