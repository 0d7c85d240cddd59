"""Signature Version 4 of AWS."""

import hashlib
import hmac
from urllib.parse import urlsplit

from .lean_typing import Dict, Mapping, NamedTuple


class Credentials(NamedTuple):
    access_key: str
    secret_key: str
    token: str = ""


def signed_headers(
    url: str, body: bytes, headers: Mapping[str, str], service: str, region: str, key: Credentials, moment: str
) -> Dict[str, str]:
    """The headers of a POST without a query, at a moment such as 20260131T235959Z."""
    parts = urlsplit(url)
    headers = {**headers, "host": parts.netloc, "x-amz-date": moment}
    if key.token:
        headers["x-amz-security-token"] = key.token
    names = ";".join(sorted(headers))
    lines = [f"{name}:{headers[name]}" for name in sorted(headers)]
    request = "\n".join(["POST", parts.path or "/", "", *lines, "", names, hashlib.sha256(body).hexdigest()])
    scope = [moment[:8], region, service, "aws4_request"]
    digest = hashlib.sha256(request.encode()).hexdigest()
    derived = ("AWS4" + key.secret_key).encode()
    for part in (*scope, "\n".join(["AWS4-HMAC-SHA256", moment, "/".join(scope), digest])):
        derived = hmac.new(derived, part.encode(), "sha256").digest()
    credential = "/".join([key.access_key, *scope])
    signature = f"Credential={credential}, SignedHeaders={names}, Signature={derived.hex()}"
    return {**headers, "authorization": "AWS4-HMAC-SHA256 " + signature}
