"""A secret of the job is an ARN in Secrets Manager or Parameter Store, never its value or only its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.masking import secret_of
from smspec.service.arns import parsed_arn
from smspec.service.member_names import shown
from smspec.service.partitions import meant_region
from smspec.service.request import Request
from smspec.service.secret_reference import secret_reference
from smspec.service.secret_settings import secret_path, secret_settings
from smspec.source import Path

RULE = Rule("SM613", "malformed secret ARN")

_HELP = "write `arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME` or `arn:aws:ssm:REGION:ACCOUNT:parameter/NAME`"


def check(request: Request) -> Iterator[Finding]:
    """Reject anything else in a request, and an ARN in a region that cannot be one."""
    path = secret_path("")[:-1]
    secrets = secret_settings(request)
    yield from check_secrets(secrets, path)
    for name, text in secrets.items():
        found = secret_reference(text)
        if found is not None and (near := meant_region(found.region)):
            yield RULE.at(
                (*path, name),
                f"`secrets.{shown(name)}`: `{shown(found.region)}` is not an AWS region",
                label=f"did you mean `{near}`?",
                help=f"use the region of the secret, such as `{near}`",
            )


def check_secrets(secrets: Mapping[str, str], path: Path) -> Iterator[Finding]:
    """Reject anything else in `secrets` at ``path``: a spec with a malformed one does not become a request with it.

    The message does not contain the value, because it may be the secret.
    """
    for name, text in secrets.items():
        if secret_reference(text) is not None:
            continue
        arn = parsed_arn(text)
        problem, help = "is not the ARN of a secret or parameter", _HELP
        if arn is not None and arn.service in ("secretsmanager", "ssm"):
            problem = "is not a complete ARN"
        elif arn is None and secret_of(name, text):
            problem = "looks like the secret itself; it must be an ARN"
            help = "replace the secret, because everyone who can read it now has it; write the ARN of the new one"
        yield RULE.at((*path, name), f"`secrets.{shown(name)}` {problem}", help=help)
