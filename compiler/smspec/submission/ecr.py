"""A private registry of Amazon ECR: its password, and its repositories."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

from smspec.service.image_reference import ImageReference
from smspec.service.policy import RegistrySettings
from smspec.submission.client import Answer, AwsUnavailable, persistently, unavailable
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, responses
from smspec.wire.fault import WireFault
from smspec.wire.json_body import member, typed, word

USER = "AWS"
_BASE64 = r"[A-Za-z0-9+/]{1,16384}={0,2}"
_MUTABILITY = {True: "IMMUTABLE", False: "MUTABLE"}


def ecr_registry(reference: ImageReference, profile: str | None) -> EcrRegistry | None:
    """Return the registry of an image; None if it is not a private one of Amazon ECR. Raise `AwsUnavailable`.

    The author of a spec chooses the name of the registry: only a host in a domain of AWS gets a password of AWS.
    """
    if reference.account is None or reference.region is None or reference.registry is None:
        return None
    session = _sentences(
        f"get access to Amazon ECR in {reference.region}", lambda: AwsSession(profile, reference.region)
    )
    return EcrRegistry(session, reference.registry, reference.region, reference.account)


class EcrRegistry:
    """The registry of an account in a region. Its methods raise `AwsUnavailable`."""

    def __init__(self, session: AwsSession, host: str, region: str, account: str) -> None:
        self.host = host
        self._region = region
        self._account = account
        self._client = _sentences(f"call Amazon ECR in {region}", lambda: session.client("ecr"))

    def password(self) -> str:
        """Return a password for the user `USER`, which is valid for hours."""
        what = f"log in to `{self.host}`"
        answer = self._called(what, "ecr:GetAuthorizationToken", "*", self._client.get_authorization_token)
        try:
            found = member(answer, "authorizationData", list)
            token = word(typed(found[0] if found else None, dict, "`authorizationData`"), "authorizationToken", _BASE64)
            user, colon, password = base64.b64decode(token, validate=True).decode("ascii").partition(":")
        except (WireFault, binascii.Error, UnicodeDecodeError):
            raise AwsUnavailable(f"cannot {what}: the response of Amazon ECR has no token") from None
        if user != USER or not colon or not password.isprintable():
            raise AwsUnavailable(f"cannot {what}: the response of Amazon ECR has no token")
        return password

    def has_repository(self, name: str) -> bool:
        """Return whether the registry has a repository, which may be empty."""
        try:
            self._called(
                f"read the repository `{name}` in `{self.host}`",
                "ecr:DescribeImages",
                f"repository/{name}",
                lambda: self._client.describe_images(registryId=self._account, repositoryName=name, maxResults=1),
            )
        except _Missing:
            return False
        return True

    def create_repository(self, name: str, settings: RegistrySettings) -> bool:
        """Create a repository; return whether it was created now. One that exists keeps its settings."""
        what, arn = f"create the repository `{name}` in `{self.host}`", f"repository/{name}"
        try:
            self._called(
                what,
                "ecr:CreateRepository",
                arn,
                lambda: self._client.create_repository(
                    registryId=self._account,
                    repositoryName=name,
                    imageTagMutability=_MUTABILITY[settings.immutable_tags],
                    imageScanningConfiguration={"scanOnPush": settings.scan_on_push},
                ),
            )
        except _AlreadyThere:
            return False
        if settings.keep_images is not None:
            policy = json.dumps(lifecycle_policy(settings.keep_images))
            self._called(
                f"set the lifecycle of the repository `{name}` in `{self.host}`",
                "ecr:PutLifecyclePolicy",
                arn,
                lambda: self._client.put_lifecycle_policy(
                    registryId=self._account, repositoryName=name, lifecyclePolicyText=policy
                ),
            )
        return True

    def _called(self, what: str, action: str, resource: str, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        def attempt() -> dict[str, Any]:
            with responses(what):
                return call()

        try:
            return persistently(attempt)
        except AwsRefused as refusal:
            if refusal.code in _EXPECTED:
                raise _EXPECTED[refusal.code] from None
            arn = resource if resource == "*" else f"arn:*:ecr:{self._region}:{self._account}:{resource}"
            raise unavailable(what, refusal.code, refusal.message, action, arn) from None
        except Unsendable as fault:
            raise AwsUnavailable(f"cannot {what}: {fault}") from None
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None


class _AlreadyThere(Exception):
    """There is a repository with this name, perhaps since a moment ago."""


class _Missing(Exception):
    """There is no repository with this name."""


_EXPECTED = {"RepositoryAlreadyExistsException": _AlreadyThere, "RepositoryNotFoundException": _Missing}


def lifecycle_policy(most: int) -> dict[str, object]:
    """Return the policy of a repository that keeps only the newest images."""
    rule = {
        "rulePriority": 1,
        "description": f"keep the newest {most} images",
        "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": most},
        "action": {"type": "expire"},
    }
    return {"rules": [rule]}


def _sentences(what: str, call: Callable[[], Answer]) -> Answer:
    try:
        with responses(what):
            return call()
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None
