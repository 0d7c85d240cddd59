"""The credentials for a private registry of Amazon ECR."""

from __future__ import annotations

import re

from smspec.lock.registry import NoDigest
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
            aws = AwsSession(region=region)
            suffixes = _suffixes(aws.partitions(), region)
        if not host.endswith(tuple(f".{region}.{suffix}" for suffix in suffixes)):
            return None
        client = aws.client("ecr")
        with responses(f"get access to Amazon ECR in {region}"):
            answer = client.get_authorization_token()
        found = member(answer, "authorizationData", list)
        token = word(typed(found[0] if found else None, dict, "`authorizationData`"), "authorizationToken", _BASE64)
        return f"Basic {token}"
    except WireFault as fault:
        raise NoDigest(f"Amazon ECR in {region}: {fault}") from None


def _suffixes(partitions: list[dict[str, object]], region: str) -> tuple[str, ...]:
    """Return the domains of AWS in the partition of a region."""
    for partition in partitions:
        if re.fullmatch(str(partition["regionRegex"]).strip("^$"), region):
            outputs = partition["outputs"]
            assert isinstance(outputs, dict)
            # Dual-stack registries are at `on.aws` where the other services are at `api.aws`.
            return str(outputs["dnsSuffix"]), re.sub(r"^api\.", "on.", str(outputs["dualStackDnsSuffix"]))
    return ()
