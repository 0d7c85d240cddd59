"""Secrets that the smspec runtime fetches for the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.quoting import secret_of
from smspec.service.arns import meant_region, parsed_arn
from smspec.service.patterns import shown
from smspec.service.request import Request
from smspec.service.runtime_settings import secret_path, secret_reference, secret_settings
from smspec.service.shapes import structure
from smspec.source import Path

ISOLATED_JOB_THAT_FETCHES_SECRETS = Rule("SM609", "isolated job that fetches secrets")


def isolated_job_that_fetches_secrets(request: Request) -> Iterator[Finding]:
    """Reject network isolation where the smspec runtime would fetch secrets.

    A container in network isolation cannot reach Secrets Manager or Parameter Store.
    """
    if request.payload.get("EnableNetworkIsolation") is True and secret_settings(request):
        key = request.word("EnableNetworkIsolation", "network.isolation")
        yield ISOLATED_JOB_THAT_FETCHES_SECRETS.at(
            ("EnableNetworkIsolation",),
            f"{HERE} is true, but the smspec runtime must fetch `secrets` over the network",
            help=f"remove `{key}`, and limit the network with security groups, or remove `secrets`",
        )


MALFORMED_SECRET_ARN = Rule("SM613", "malformed secret ARN")

_ARN_HELP = "write `arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME` or `arn:aws:ssm:REGION:ACCOUNT:parameter/NAME`"


def malformed_secret_arn(request: Request) -> Iterator[Finding]:
    """Reject anything else in a request, and an ARN in a region that cannot be one.

    A secret of the job is an ARN in Secrets Manager or Parameter Store, never its value or only its name.
    """
    path = secret_path("")[:-1]
    secrets = secret_settings(request)
    yield from check_secrets(secrets, path)
    for name, text in secrets.items():
        found = secret_reference(text)
        if found is not None and (near := meant_region(found.region)):
            yield MALFORMED_SECRET_ARN.at(
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
        problem, help = "is not the ARN of a secret or parameter", _ARN_HELP
        if arn is not None and arn.service in ("secretsmanager", "ssm"):
            problem = "is not a complete ARN"
        elif arn is None and secret_of(name, text):
            problem = "looks like the secret itself; it must be an ARN"
            help = "replace the secret, because everyone who can read it now has it; write the ARN of the new one"
        yield MALFORMED_SECRET_ARN.at((*path, name), f"`secrets.{shown(name)}` {problem}", help=help)


SECRET_FOR_A_RESERVED_VARIABLE = Rule("SM612", "secret for a reserved variable")

_RESERVED_PREFIXES = ("SM_", "SMSPEC_", "SAGEMAKER_", "TRAINING_JOB_", "AWS_CONTAINER_")

_RESERVED_NAMES = frozenset({"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV", "CURRENT_HOST", "PYTHONPATH"})

# With any other value than a usual one, programs are not found, Python does not start, or the dynamic linker fails.
_READ_AT_START = frozenset(
    {
        *("PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONHOME", "PYTHONPLATLIBDIR"),
        *("PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONMALLOC", "PYTHONUTF8", "PYTHONTRACEMALLOC"),
    }
)


def secret_for_a_reserved_variable(request: Request) -> Iterator[Finding]:
    """Reject a secret with the name of such a variable; credentials for a different account are allowed.

    SageMaker and the smspec runtime set some variables themselves, and others decide how programs start.
    """
    for name in secret_settings(request):
        if name in _READ_AT_START:
            problem = "is a variable that programs read when they start"
        elif name in _RESERVED_NAMES or name.startswith(_RESERVED_PREFIXES):
            problem = "is a variable that SageMaker or the smspec runtime sets"
        else:
            continue
        yield SECRET_FOR_A_RESERVED_VARIABLE.at(
            secret_path(name), f"`secrets.{shown(name)}` {problem}", help="rename the variable", on="key"
        )


SECRET_IN_A_DIFFERENT_PARTITION = Rule("SM614", "secret in a different partition")


def secret_in_a_different_partition(request: Request) -> Iterator[Finding]:
    """Reject a secret that is in a different partition than the role.

    The credentials of a role are only valid in its partition.
    """
    role = request.role
    for name, text in secret_settings(request).items():
        found = secret_reference(text)
        if role is not None and found is not None and found.partition != role.partition:
            yield SECRET_IN_A_DIFFERENT_PARTITION.at(
                secret_path(name),
                f"`secrets.{shown(name)}` is in the partition `{shown(found.partition)}`, "
                f"but the role is in `{shown(role.partition)}`",
                help=f"use a secret in the partition `{shown(role.partition)}`",
            )


VARIABLE_SET_AS_SECRET_AND_IN_ENVIRONMENT = Rule("SM611", "variable set as secret and in environment")


def variable_set_as_secret_and_in_environment(request: Request) -> Iterator[Finding]:
    """Reject a variable that is in both.

    A variable has one value: a secret overwrites that of the environment.
    """
    secrets = secret_settings(request)
    for name in structure(request.payload, "Environment"):
        if name in secrets:
            yield VARIABLE_SET_AS_SECRET_AND_IN_ENVIRONMENT.at(
                ("Environment", name),
                f"{HERE} and `secrets.{shown(name)}` set the same variable",
                help="remove this one: the secret overwrites it",
                on="key",
            )


RULES = {
    isolated_job_that_fetches_secrets: (),
    malformed_secret_arn: (),
    secret_for_a_reserved_variable: (),
    secret_in_a_different_partition: (),
    variable_set_as_secret_and_in_environment: (),
}
