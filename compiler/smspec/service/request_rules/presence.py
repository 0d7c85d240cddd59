"""Members that every request must have."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.arns import parsed_arn
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

JOB_WITHOUT_ALGORITHM = Rule("SM420", "job without an image", evidence="third-party-schema", needs_every_layer=True)


def job_without_algorithm(request: Request) -> Iterator[Finding]:
    """Reject a request without AlgorithmSpecification, unless the job is serverless.

    A request must set what it runs. The model stopped requiring it with serverless jobs; the service did not.
    """
    image = request.word("AlgorithmSpecification", "image")
    yield from _not_set(
        request, JOB_WITHOUT_ALGORITHM, "AlgorithmSpecification", image, f"set `{image}` to an image or an algorithm"
    )


JOB_WITHOUT_HOSTS = Rule("SM421", "job without instances", evidence="third-party-schema", needs_every_layer=True)


def job_without_hosts(request: Request) -> Iterator[Finding]:
    """Reject a request without ResourceConfig, unless the job is serverless.

    A request must set what the job runs on.
    """
    hosts = request.word("ResourceConfig", "hosts")
    yield from _not_set(
        request, JOB_WITHOUT_HOSTS, "ResourceConfig", hosts, f"set `{hosts}` to an instance type and a count"
    )


JOB_WITHOUT_STOPPING_CONDITION = Rule(
    "SM422", "job without a stopping condition", evidence="third-party-schema", needs_every_layer=True
)


def job_without_stopping_condition(request: Request) -> Iterator[Finding]:
    """Reject a request without StoppingCondition, unless the job is serverless.

    A request must have a stopping condition, even an empty one.
    """
    help = "add `StoppingCondition: {}`; SageMaker then stops the job after a day"
    yield from _not_set(request, JOB_WITHOUT_STOPPING_CONDITION, "StoppingCondition", "StoppingCondition", help)


def _not_set(request: Request, rule: Rule, name: str, word: str, help: str) -> Iterator[Finding]:
    if name not in request.payload and not request.is_serverless:
        yield rule.at((name,), f"`{word}` is not set", help=help)


MARKETPLACE_ALGORITHM_WITHOUT_ISOLATION = Rule(
    "SM359", "marketplace algorithm without network isolation", "warning", evidence="devguide"
)


def marketplace_algorithm_without_isolation(request: Request) -> Iterator[Finding]:
    """Warn about the algorithm of a different account in a container with a network.

    Algorithms from AWS Marketplace run in network isolation; one of the same account may have a network.
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
