"""The credentials for a private registry of Amazon ECR."""

from __future__ import annotations

from smspec.lock.registry import NoDigest
from smspec.service.partitions import is_registry_host
from smspec.wire.aws import AwsSession, responses
from smspec.wire.fault import WireFault
from smspec.wire.json_body import member, typed, word

_BASE64 = r"[A-Za-z0-9+/]{1,16384}={0,2}"


def authorization(region: str, host: str) -> str | None:
    """Return the authorization header for ECR, from the credentials that boto3 finds. Raise `NoDigest`.

    None for a host outside AWS: the author of a spec chooses the name of the registry, and the beginning of a name
    proves nothing.
    """
    try:
        with responses(f"get access to Amazon ECR in {region}"):
            if not is_registry_host(host, region):
                return None
            answer = AwsSession(region=region).client("ecr").get_authorization_token()
        found = member(answer, "authorizationData", list)
        token = word(typed(found[0] if found else None, dict, "`authorizationData`"), "authorizationToken", _BASE64)
        return f"Basic {token}"
    except WireFault as fault:
        raise NoDigest(f"Amazon ECR in {region}: {fault}") from None
