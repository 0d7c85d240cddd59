"""The credentials for a private registry of Amazon ECR."""

from __future__ import annotations

from smspec.lock.registry import NoAnswer


def authorization(region: str) -> str:
    """Return the header that ECR takes, by the credentials that boto3 finds. Raises `NoAnswer`."""
    import boto3  # late: few bases lie in ECR, and it takes half a second
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        answer = boto3.client("ecr", region_name=region).get_authorization_token()
        return f"Basic {answer['authorizationData'][0]['authorizationToken']}"
    except (BotoCoreError, ClientError) as fault:
        raise NoAnswer(f"Amazon ECR in {region}: {fault}") from None
