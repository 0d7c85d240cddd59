"""The package index of a CodeArtifact repository, as CA_REPOSITORY_ARN names it."""

import re

from .aws import open_client, service_errors
from .refusal import Refused

_ARN = re.compile(
    r"arn:[^:]+:codeartifact:(?P<region>[^:]+):(?P<account>[^:]+):repository/(?P<domain>[^/]+)/(?P<repository>.+)"
)


def index_url(arn: str) -> str:
    """Return the URL of the index, with a token in it. Raises Refused if there is none to be had."""
    parts = _ARN.fullmatch(arn)
    if parts is None:
        raise Refused(f"CA_REPOSITORY_ARN is not the ARN of a CodeArtifact repository: {arn}")
    client = open_client("codeartifact", "CA_REPOSITORY_ARN is set", region_name=parts["region"])
    owner = {"domain": parts["domain"], "domainOwner": parts["account"]}
    try:
        token = client.get_authorization_token(**owner)["authorizationToken"]
        endpoint = client.get_repository_endpoint(repository=parts["repository"], format="pypi", **owner)
    except service_errors() as error:
        raise Refused(f"CodeArtifact: {error}") from error
    scheme, _, rest = endpoint["repositoryEndpoint"].rstrip("/").partition("://")
    return f"{scheme}://aws:{token}@{rest}/simple/"
