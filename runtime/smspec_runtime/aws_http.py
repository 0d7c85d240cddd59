"""Signed requests to AWS, repeated within one deadline."""

import json
import os
import random
import ssl
import time
from http.client import HTTPException
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from .aws_signature import Credentials, signed_headers
from .lean_typing import Any, Callable, Dict, Environ, Mapping, Optional
from .log import log

SECONDS = 90.0  # For all requests: AWS throttles hundreds of hosts that start at once.
_SECONDS_OF_ONE = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.4, 8.0
_LONGEST = 1 << 20  # Bytes of an answer.
_PASSING = ("Throttl", "TooManyRequests", "Internal", "ServiceUnavailable")
_SUFFIXES = {
    "aws-cn": "amazonaws.com.cn",
    "aws-eusc": "amazonaws.eu",
    "aws-iso": "c2s.ic.gov",
    "aws-iso-b": "sc2s.sgov.gov",
    "aws-iso-e": "cloud.adc-e.uk",
    "aws-iso-f": "csp.hci.ic.gov",
}
_AGENT = "169.254.170.2"
_TRUSTED = (_AGENT, "127.0.0.1", "::1", "localhost")  # May send credentials without TLS.


class AwsError(Exception):
    """``code``: of the service, if it answered; ``passes``: another attempt may succeed."""

    def __init__(self, message: str, code: str = "", passes: bool = False) -> None:
        super().__init__(": ".join(filter(None, [code, message[:400]])))
        self.code, self.passes = code, passes


class Aws:
    """AWS services, for the container's role."""

    def __init__(self, environ: Environ) -> None:
        self._environ = environ
        self._deadline = time.monotonic() + SECONDS
        try:
            self._tls = ssl.create_default_context(cafile=environ.get("AWS_CA_BUNDLE") or None)
        except OSError as error:
            raise AwsError(f"cannot read AWS_CA_BUNDLE: {error}") from error
        self._credentials = self._find_credentials()

    def call(self, service: str, partition: str, region: str, action: str, members: Mapping[str, Any]) -> Any:
        """Call a service with the protocol `json`. Raises AwsError."""
        get = self._environ.get
        own = "AWS_ENDPOINT_URL_" + service.replace("smanager", "s_manager").upper()
        usual = f"https://{service}.{region}.{_SUFFIXES.get(partition, 'amazonaws.com')}"
        url = get(own) or get("AWS_ENDPOINT_URL") or usual
        headers = {"content-type": "application/x-amz-json-1.1", "x-amz-target": action}
        body = json.dumps(members).encode()

        def sign() -> Dict[str, str]:
            moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            return signed_headers(url, body, headers, service, region, self._credentials, moment)

        return self._answer(url, body, sign)

    def _find_credentials(self) -> Credentials:
        get = self._environ.get
        key, secret = get("AWS_ACCESS_KEY_ID"), get("AWS_SECRET_ACCESS_KEY")
        if key and secret:
            return Credentials(key, secret, get("AWS_SESSION_TOKEN", ""))
        path, token = get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        url = f"http://{_AGENT}{path}" if path else get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        if not url:
            raise AwsError("no AWS credentials: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set")
        place = urlsplit(url)
        if place.scheme != "https" and place.hostname not in _TRUSTED:
            raise AwsError("AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this host")
        found = self._answer(url, None, lambda: {"authorization": token} if token else {})
        if not found.get("SecretAccessKey"):
            raise AwsError(f"no AWS credentials in the answer of {place.netloc}")
        return Credentials(found["AccessKeyId"], found["SecretAccessKey"], found.get("Token") or "")

    def _answer(self, url: str, body: Optional[bytes], headers: Callable[[], Dict[str, str]]) -> Any:
        """POST; without a body GET, past any proxy. ``headers``: of each attempt."""
        opener = OpenerDirector()  # Follows no redirect.
        for handler in (ProxyHandler(None if body else {}), HTTPHandler(), HTTPSHandler(context=self._tls)):
            opener.add_handler(handler)
        pause = _FIRST_PAUSE
        while True:
            left = max(self._deadline - time.monotonic(), 1)
            try:
                with opener.open(Request(url, body, headers()), timeout=min(left, _SECONDS_OF_ONE)) as response:
                    return _decoded(response.status, response.read(_LONGEST))
            except AwsError as error:
                fault = error
            except (OSError, HTTPException, ValueError) as error:
                fault = _network_fault(urlsplit(url).netloc, error)
            wait = pause * (0.5 + random.random() / 2)
            if not fault.passes or left < wait + 1:
                raise fault
            if pause == _FIRST_PAUSE:
                log(f"trying again for at most {left:.0f} s: {fault}")
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _decoded(status: int, content: bytes) -> Any:
    try:
        answer = dict(json.loads(content))
    except (ValueError, TypeError):
        answer = {}
    if status == 200 and answer:
        return answer
    code = str(answer.get("__type", f"HTTP status {status}")).rpartition("#")[2]
    message = str(answer.get("message") or answer.get("Message") or "")
    raise AwsError(message, code, status >= 500 or status == 429 or code.startswith(_PASSING))


def _network_fault(host: str, error: Exception) -> AwsError:
    reason = getattr(error, "reason", error)
    if not isinstance(reason, ssl.SSLCertVerificationError):
        return AwsError(f"cannot reach {host}: {reason}; in a VPC it needs an endpoint or a NAT gateway", passes=True)
    paths = ssl.get_default_verify_paths()
    if not (paths.cafile or (paths.capath and os.listdir(paths.capath))):
        reason = "the image has no CA certificates; install `ca-certificates` in it"
    return AwsError(f"cannot verify {host}: {reason}")
