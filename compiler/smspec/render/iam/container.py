"""Statements about what the container itself calls, with the execution role."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.render.iam.statements import Statement, allow
from smspec.service.arns import parsed_arn
from smspec.service.members import member

# Developer guide, "Access a training container through AWS Systems Manager for remote debugging".
_CHANNELS = [
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
]
_INDEX = "CA_REPOSITORY_ARN"
"""The runtime and SageMaker's training toolkit install packages at startup from the CodeArtifact repository in it."""


def container_statements(payload: dict[str, object], image_env: Mapping[str, str]) -> list[Statement]:
    """Return what the agent of a remote debugger, and the installation of packages at startup, need."""
    statements = []
    if member(payload, "RemoteDebugConfig", "EnableRemoteDebug") is True:
        statements.append(allow("ConnectTheDebugger", _CHANNELS, ["*"]))
    repository = member(payload, "Environment", _INDEX) or image_env.get(_INDEX)
    return [*statements, *_package_index(repository)]


def _package_index(repository: object) -> list[Statement]:
    """Return the statements to read packages (CodeArtifact user guide, identity-based policies)."""
    arn = parsed_arn(repository)
    kind, _, rest = arn.resource.partition("/") if arn else ("", "", "")
    domain, _, name = rest.partition("/")
    if arn is None or arn.service != "codeartifact" or kind != "repository" or not name:
        return []
    domain_arn = f"arn:{arn.partition}:codeartifact:{arn.region}:{arn.account}:domain/{domain}"
    bearer: Statement = {"StringEquals": {"sts:AWSServiceName": "codeartifact.amazonaws.com"}}
    return [
        allow("SignInToCodeArtifact", ["codeartifact:GetAuthorizationToken"], [domain_arn]),
        allow(
            "ReadPackages", ["codeartifact:GetRepositoryEndpoint", "codeartifact:ReadFromRepository"], [str(repository)]
        ),
        # CodeArtifact user guide: without it no token is issued. It is about no resource.
        allow("CarryTheToken", ["sts:GetServiceBearerToken"], ["*"], bearer),
    ]
