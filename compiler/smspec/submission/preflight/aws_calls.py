"""The calls of the questions: read-only, with the credentials of one session, and few attempts."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from smspec.submission.aws_errors import DENIED, INVALID_CREDENTIALS, AwsUnavailable
from smspec.submission.client import THROTTLED
from smspec.submission.preflight.asking import MOST_THREADS, Contradiction, NotChecked
from smspec.wire.aws import AwsRefused, AwsSession, EndpointElsewhere, Unsendable, is_in_aws, responses
from smspec.wire.connections import Connections, trust_of_environment
from smspec.wire.exchange import fetched
from smspec.wire.fault import BadResponse, Deadline, WireFault, timeout

_UNSUPPORTED = re.compile(r"UnknownOperation.*|InvalidAction|Not.?Impl.*|UnsupportedOperation|501|405|MethodNotAllowed")
"""Error codes of a server that does not have the call: an emulator, or a region without the service."""


_SHARE, _SHARE_OF_A_CALL = 0.5, 0.2
"""Of the time limit of a server: for all questions together, and for each of their calls."""


def seconds_of_questions() -> float:
    """Return how long the answers to all questions may take. Raise `AwsUnavailable` for a malformed variable."""
    return _timeout() * _SHARE


def seconds_of_a_call() -> float:
    """Return how long one response may take. Raise `AwsUnavailable` for a malformed variable."""
    return _timeout() * _SHARE_OF_A_CALL


def _timeout() -> float:
    try:
        return timeout()
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None


class AwsCalls:
    """The clients of one session, which threads share. ``region``: of the job. ``seconds``: for a response."""

    def __init__(self, profile: str | None, region: str, *, seconds: float) -> None:
        self.region = region
        self._seconds = seconds
        self._connections = Connections(trust_of_environment())
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}
        try:
            with responses("call AWS"):
                self._session = AwsSession(profile, region, seconds=seconds, connections=MOST_THREADS)
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None

    def client(self, service: str, region: str | None = None) -> Any:
        """Return the client of a service, in the region of the job or in a different one. Raise `NotChecked`."""
        where = region or self.region
        with self._lock:  # sessions cannot be shared by threads
            if (service, where) not in self._clients:
                try:
                    with responses(f"call {service} in {where}"):
                        self._clients[service, where] = (
                            self._session.s3_client()
                            if service == "s3"
                            else self._session.client(service, region_name=where)
                        )
                except EndpointElsewhere as fault:
                    raise Contradiction(str(fault)) from None
                except WireFault as fault:
                    raise NotChecked(str(fault)) from None
            return self._clients[service, where]

    def emulator(self, service: str) -> str:
        """Return the host that calls of a service go to, if that is not AWS's; else an empty string."""
        client = self.client(service)
        return "" if is_in_aws(client) else urlsplit(str(client.meta.endpoint_url)).hostname or ""

    def download(self, url: str, size: int) -> bytes:
        """Return what a link of AWS leads to, which contains its own permission. Raise `WireFault`."""
        response = fetched(
            self._connections, url, {"Accept": "*/*"}, deadline=Deadline(self._seconds), size=size
        ).response
        if response.status != 200:
            raise BadResponse(f"HTTP status {response.status}")
        return response.body

    def called(
        self, purpose: str, action: str, call: Callable[[], dict[str, Any]], *, keeps: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return a response. ``purpose`` follows "cannot"; ``action``: what IAM calls it.

        Raise `NotChecked`, or `AwsRefused` for an error code that says something about the subject, as those in
        ``keeps`` do.
        """
        try:
            with responses(purpose):
                return call()
        except AwsRefused as refusal:
            if refusal.code in keeps:
                raise
            if refusal.code in DENIED:
                raise NotChecked(f"AWS denies `{action}`", action) from None
            if refusal.code in THROTTLED:
                raise NotChecked(f"AWS throttles `{action}`") from None
            if _UNSUPPORTED.fullmatch(refusal.code):
                raise NotChecked(f"the endpoint does not support `{action}`") from None
            if refusal.code in INVALID_CREDENTIALS:
                raise NotChecked(f"AWS does not accept the credentials ({refusal.code})") from None
            raise
        except Unsendable as fault:
            raise NotChecked(f"cannot {purpose}: {fault}") from None
        except WireFault as fault:
            raise NotChecked(str(fault)) from None
