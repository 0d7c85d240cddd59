"""Members that every request must have."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.arns import parsed_arn
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

JOB_WITHOUT_ALGORITHM = Rule("SM420", "job without an image", evidence="third-party-schema")


def job_without_algorithm(request: Request) -> Iterator[Finding]:
    """Reject a request without AlgorithmSpecification, unless the job is serverless.

    A request must set what it runs. The model stopped requiring it with serverless jobs; the service did not.
    """
    if "AlgorithmSpecification" not in request.payload and not request.is_serverless:
        image = request.word("AlgorithmSpecification", "image")
        yield JOB_WITHOUT_ALGORITHM.at(
            ("AlgorithmSpecification",),
            f"`{image}` is not set",
            help=f"set `{image}` to an image or an algorithm",
        )


JOB_WITHOUT_HOSTS = Rule("SM421", "job without instances", evidence="third-party-schema")


def job_without_hosts(request: Request) -> Iterator[Finding]:
    """Reject a request without ResourceConfig, unless the job is serverless.

    A request must set what the job runs on.
    """
    if "ResourceConfig" not in request.payload and not request.is_serverless:
        hosts = request.word("ResourceConfig", "hosts")
        yield JOB_WITHOUT_HOSTS.at(
            ("ResourceConfig",),
            f"`{hosts}` is not set",
            help=f"set `{hosts}` to an instance type and a count",
        )


JOB_WITHOUT_STOPPING_CONDITION = Rule("SM422", "job without a stopping condition", evidence="third-party-schema")


def job_without_stopping_condition(request: Request) -> Iterator[Finding]:
    """Reject a request without StoppingCondition, unless the job is serverless.

    A request must have a stopping condition, even an empty one.
    """
    if "StoppingCondition" not in request.payload and not request.is_serverless:
        yield JOB_WITHOUT_STOPPING_CONDITION.at(
            ("StoppingCondition",),
            "`StoppingCondition` is not set",
            help="add `StoppingCondition: {}`; SageMaker then stops the job after a day",
        )


MARKETPLACE_ALGORITHM_WITHOUT_ISOLATION = Rule(
    "SM359", "marketplace algorithm without network isolation", "warning", evidence="devguide"
)


def marketplace_algorithm_without_isolation(request: Request) -> Iterator[Finding]:
    """Warn about the algorithm of a different account in a container with a network.

    One of the same account may have one.

    Algorithms from AWS Marketplace run in network isolation.
    """
    arn, role = parsed_arn(structure(request.payload, "AlgorithmSpecification").get("AlgorithmName")), request.role
    if arn is None or role is None or arn.account == role.account:
        return
    if request.payload.get("EnableNetworkIsolation") is not True:
        isolation = request.word("EnableNetworkIsolation: true", "network: {isolation: true}")
        yield MARKETPLACE_ALGORITHM_WITHOUT_ISOLATION.at(
            ("EnableNetworkIsolation",),
            f"`{shown(arn.resource)}` might be from AWS Marketplace and require `{isolation}`",
            help=f"add `{isolation}`",
            on="key",
            cause=("AlgorithmSpecification", "AlgorithmName"),
        )


RULES = {
    job_without_algorithm: (),
    job_without_hosts: (),
    job_without_stopping_condition: (),
    marketplace_algorithm_without_isolation: ("AlgorithmSpecification.AlgorithmName",),
}
