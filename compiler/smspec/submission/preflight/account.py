"""What the account of the job decides: the caller, the role, the quotas, the training plan, and the job queue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from smspec.render.iam.statements import SERVICE
from smspec.service.arns import Arn, parsed_arn, partitions
from smspec.service.job_costs import instance_counts
from smspec.service.policy_rules.limits import needed_quotas
from smspec.service.request import Request
from smspec.service.shapes import items, member, number
from smspec.spec.model import Queue
from smspec.submission.client import INVALID_CREDENTIALS, unaccepted
from smspec.submission.preflight.asking import (
    SURROUNDINGS_AT_FAULT,
    Answer,
    AwsQuestion,
    NotChecked,
    PreflightCalls,
    not_checked,
    ok,
    wrong,
)
from smspec.wire.aws import AwsRefused

CALLER, ROLE, QUOTA, PLAN, QUEUE = "caller", "role", "quota", "training plan", "queue"
CAPACITY = "capacity"
_MOST_PAGES = 50
_MOST_NAMED = 3
_ASSUME = re.compile(r"\*|sts:\*|sts:AssumeRole", re.IGNORECASE)
_ENDED_PLANS = ("Expired", "Failed")


def caller_question(calls: PreflightCalls, payload: Mapping[str, Any]) -> AwsQuestion:
    """Return the question who calls, and whether that is the account of the role."""
    role = parsed_arn(payload.get("RoleArn"))
    return AwsQuestion(kind=CALLER, name="", waits_for="STS about the caller", ask=partial(_caller, calls, role))


def _caller(calls: PreflightCalls, role: Arn | None) -> Answer:
    client = calls.client("sts")
    try:
        found = calls.called(
            "ask STS who calls", "sts:GetCallerIdentity", client.get_caller_identity, keeps=INVALID_CREDENTIALS
        )
    except AwsRefused as refusal:
        if refusal.code not in INVALID_CREDENTIALS:
            raise
        return wrong(CALLER, "", unaccepted(refusal.code, refusal.message), SURROUNDINGS_AT_FAULT)
    arn, account = str(found.get("Arn") or ""), str(found.get("Account") or "")
    emulator = calls.emulator("sts")
    # The account of an emulator says nothing; but where SageMaker is that of AWS, it has to be the one of the role.
    if emulator and calls.emulator("sagemaker"):
        return not_checked(CALLER, arn, f"`{emulator}` is not AWS, so its account is not compared with the role's")
    if not arn or not account:
        raise NotChecked("the response of STS does not name the caller")
    if role is not None and role.account and role.account != account:
        return wrong(CALLER, arn, f"the role is in account {role.account}; use its credentials", SURROUNDINGS_AT_FAULT)
    return ok(CALLER, arn, "in the account of the role" if role is not None and role.account else "")


def account_questions(calls: PreflightCalls, payloads: Sequence[dict[str, Any]], account: str) -> Iterator[AwsQuestion]:
    """Yield the questions about what belongs to the account of the job, which is ``account``, empty if unknown."""
    role = parsed_arn(payloads[0].get("RoleArn"))
    if role is not None and role.resource.startswith("role/"):
        name = role.resource.rpartition("/")[2]
        yield AwsQuestion(
            kind=ROLE, name=name, waits_for="IAM about the role", ask=partial(_role, calls, name, role, account)
        )
    plans = dict.fromkeys(plan for payload in payloads for plan in _plans(payload))
    for arn in plans:
        yield AwsQuestion(
            kind=PLAN, name=arn, waits_for="SageMaker about the training plan", ask=partial(_plan, calls, arn)
        )
    needs = [needed_quotas(Request(payload=payload)) for payload in payloads]
    if any(needs):
        yield AwsQuestion(
            kind=QUOTA, name="", waits_for=f"Service Quotas in {calls.region}", ask=partial(_quota, calls, needs)
        )


def _role(calls: PreflightCalls, name: str, role: Arn, account: str) -> Answer:
    emulator = calls.emulator("iam")
    if emulator:
        raise NotChecked(f"`{emulator}` is not AWS, and accepts any role")
    if account and role.account != account:
        raise NotChecked("it is not in the account of the caller")
    client = calls.client("iam")
    try:
        found = calls.called(f"read the role `{name}`", "iam:GetRole", lambda: client.get_role(RoleName=name))
    except AwsRefused as refusal:
        if refusal.code != "NoSuchEntity":
            raise
        if not account:
            raise NotChecked("the account of the caller, in which IAM looks for it, is not known") from None
        return wrong(ROLE, name, f"does not exist in account {role.account}")
    # IAM finds a role by its name alone, SageMaker by the ARN, which contains its path.
    there = parsed_arn(member(found, "Role", "Arn"))
    if there is not None and there.account == role.account and there.resource != role.resource:
        return wrong(ROLE, name, f"is `{there.resource}`, not `{role.resource}`: use the ARN with its path")
    policy = member(found, "Role", "AssumeRolePolicyDocument")
    if not isinstance(policy, dict):
        raise NotChecked("it exists, but the response of IAM does not contain whom it trusts")
    if not _trusts(policy):
        return wrong(ROLE, name, f"does not trust {SERVICE}: add it to its trust policy", SURROUNDINGS_AT_FAULT)
    return ok(ROLE, name, f"exists, and trusts {SERVICE}")


def _trusts(policy: dict[str, object]) -> bool:
    """Return whether a trust policy may allow SageMaker; its conditions cannot be evaluated here."""
    listed = policy.get("Statement")
    matching = [each for each in (listed if isinstance(listed, list) else [listed]) if _is_of_service(each)]
    is_denied = any(member(each, "Effect") == "Deny" and not member(each, "Condition") for each in matching)
    return not is_denied and any(member(each, "Effect") == "Allow" for each in matching)


def _is_of_service(statement: object) -> bool:
    """Return whether a statement is about SageMaker that assumes the role."""
    principal = member(statement, "Principal")
    services = _texts(principal.get("Service") if isinstance(principal, dict) else principal)
    everyone = _texts(member(principal, "AWS"))  # {"AWS": "*"} is the same as "*"
    names = {"*", SERVICE, *(f"sagemaker.{each.dns_suffix}" for each in partitions())}
    is_named = "*" in everyone or not names.isdisjoint(services)
    return is_named and any(map(_ASSUME.fullmatch, _texts(member(statement, "Action"))))


def _texts(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def _plans(payload: Mapping[str, Any]) -> Iterator[str]:
    hosts = payload.get("ResourceConfig")
    preferred = [plan for each in items(hosts, "InstancePreferences") for plan in items(each, "TrainingPlanArns")]
    for plan in (member(hosts, "TrainingPlanArn"), *preferred):
        if isinstance(plan, str):
            yield plan


def _plan(calls: PreflightCalls, arn: str) -> Answer:
    name, client = arn.rpartition("/")[2], calls.client("sagemaker")
    try:
        found = calls.called(
            f"read the training plan `{name}`",
            "sagemaker:DescribeTrainingPlan",
            lambda: client.describe_training_plan(TrainingPlanName=name),
        )
    except AwsRefused as refusal:
        if refusal.code not in ("ResourceNotFound", "ResourceNotFoundException") and "not found" not in str(refusal):
            raise
        return wrong(PLAN, name, f"does not exist in {calls.region}")
    if not isinstance(found.get("TrainingPlanArn"), str):
        raise NotChecked("the response of SageMaker does not describe it")
    if found.get("TrainingPlanArn") != arn:
        raise NotChecked(f"the account of the caller has a different plan `{name}`")
    status = str(found.get("Status") or "of unknown status")
    if status in _ENDED_PLANS:
        return wrong(PLAN, name, f"is {status}")
    return ok(PLAN, name, f"is {status}")


def queue_question(calls: PreflightCalls, queue: Queue, payload: Mapping[str, Any]) -> AwsQuestion:
    """Return the question about the queue of a job, from which that about its service environment follows."""
    ask = partial(_queue, calls, queue, payload)
    return AwsQuestion(kind=QUEUE, name=queue.name, waits_for="AWS Batch about the queue", ask=ask)


def _queue(calls: PreflightCalls, queue: Queue, payload: Mapping[str, Any]) -> Answer:
    client = calls.client("batch")
    found = calls.called(
        f"read the queue `{queue.name}`",
        "batch:DescribeJobQueues",
        lambda: client.describe_job_queues(jobQueues=[queue.name]),
    )
    described = next(iter(items(found, "jobQueues")), None)
    if described is None:
        if not isinstance(found.get("jobQueues"), list):
            raise NotChecked("the response of AWS Batch is not a list")
        return wrong(QUEUE, queue.name, f"does not exist in {calls.region}")
    kind, state, status = (member(described, name) for name in ("jobQueueType", "state", "status"))
    if kind != "SAGEMAKER_TRAINING":
        return wrong(QUEUE, queue.name, f"is of the type {kind or 'ECS'}, not SAGEMAKER_TRAINING")
    if state != "ENABLED" or status in ("INVALID", "DELETING", "DELETED"):
        text = f"is {state if state != 'ENABLED' else status}, so it accepts no jobs"
        return wrong(QUEUE, queue.name, text, SURROUNDINGS_AT_FAULT)
    shares = _share(calls, client, queue, member(described, "schedulingPolicyArn"))
    if shares[0]:
        return wrong(QUEUE, queue.name, shares[0])
    environments = [member(each, "serviceEnvironment") for each in items(described, "serviceEnvironmentOrder")]
    names = [each for each in environments if isinstance(each, str)]
    then = AwsQuestion(
        kind=CAPACITY,
        name=", ".join(each.rpartition("/")[2] for each in names),
        waits_for="AWS Batch about the service environment",
        ask=partial(_capacity, calls, names, payload),
    )
    return Answer(rows=ok(QUEUE, queue.name, f"accepts jobs{shares[1]}").rows, then=(then,) if names else ())


def _share(calls: PreflightCalls, client: Any, queue: Queue, policy: object) -> tuple[str, str]:
    """Return what is wrong with the share of a job, and what is known about the shares of its queue."""
    if not isinstance(policy, str) or not policy:
        if queue.share is not None or queue.quota_share is not None:
            key = "queue.share" if queue.share is not None else "queue.quota_share"
            return f"has no scheduling policy: remove `{key}`", ""
        return "", ", first in, first out" + (", whatever their priority" if queue.priority is not None else "")
    try:
        found = calls.called(
            "read the scheduling policy of the queue",
            "batch:DescribeSchedulingPolicies",
            lambda: client.describe_scheduling_policies(arns=[policy]),
        )
    except NotChecked as fault:
        return "", f"; its shares are not known: {fault}"
    described = next(iter(items(found, "schedulingPolicies")), None)
    if member(described, "quotaSharePolicy") is not None:
        if queue.quota_share is None:
            return "has quota shares: set `queue.quota_share`", ""
        return _quota_share(calls, client, queue)
    if member(described, "fairsharePolicy") is not None and queue.share is None:
        return "has fair shares: set `queue.share`", ""
    return "", f", share {queue.share}" if queue.share else ""


def _quota_share(calls: PreflightCalls, client: Any, queue: Queue) -> tuple[str, str]:
    try:
        listed = calls.called(
            "list the quota shares of the queue",
            "batch:ListQuotaShares",
            lambda: client.list_quota_shares(jobQueue=queue.name, maxResults=100),
        )
    except NotChecked as fault:
        return "", f"; its quota shares are not known: {fault}"
    names = [member(each, "quotaShareName") for each in items(listed, "quotaShares")]
    if names and queue.quota_share not in names and not listed.get("nextToken"):
        return f"has no quota share `{queue.quota_share}`", ""
    return "", f", quota share {queue.quota_share}"


def _capacity(calls: PreflightCalls, names: list[str], payload: Mapping[str, Any]) -> Answer:
    """Compare the capacity of the service environment with the instances of the job, which else waits forever."""
    client, shown = calls.client("batch"), ", ".join(each.rpartition("/")[2] for each in names)
    found = calls.called(
        "read the service environment of the queue",
        "batch:DescribeServiceEnvironments",
        lambda: client.describe_service_environments(serviceEnvironments=names),
    )
    described = items(found, "serviceEnvironments")
    if not described:
        raise NotChecked("the response of AWS Batch does not describe it")
    enabled = [each for each in described if member(each, "state") != "DISABLED"]
    if not enabled:
        return wrong(CAPACITY, shown, "is DISABLED, so the job waits", SURROUNDINGS_AT_FAULT)
    needs = instance_counts(dict(payload))
    lacking = [_lacking_capacity(each, needs) for each in enabled]
    if all(lacking):
        return wrong(CAPACITY, shown, lacking[0])
    limits = [
        f"{number(limit, 'maxCapacity')} {member(limit, 'capacityUnit')}"
        for each in enabled
        for limit in items(each, "capacityLimits")
    ]
    return ok(CAPACITY, shown, f"up to {', '.join(limits[:_MOST_NAMED])}" if limits else "")


def _lacking_capacity(environment: object, needs: Mapping[str, int]) -> str:
    """Return why the instances of a job never fit into a service environment; empty if they may."""
    for limit in items(environment, "capacityLimits"):
        unit, most = member(limit, "capacityUnit"), number(limit, "maxCapacity")
        needed = sum(needs.values()) if unit == "NUM_INSTANCES" else needs.get(str(unit), 0)
        if most is not None and needed > most:
            kind = "instances" if unit == "NUM_INSTANCES" else f"`{unit}`"
            return f"the job needs {needed} {kind}, and the capacity limit is {most}: it would wait without end"
    return ""


def _quota(calls: PreflightCalls, needs: list[dict[str, int]]) -> Answer:
    """Compare the quotas with what each alternative of the job needs: one that fits is enough."""
    emulator = calls.emulator("service-quotas")
    if emulator:
        raise NotChecked(f"`{emulator}` is not AWS, and has different quotas")
    known, is_all = _listed(calls, {name for need in needs for name in need if name.startswith("ml.")})
    lacking = [_lacking(need, known) for need in needs]
    if all(lacking):
        return wrong(QUOTA, "", "; ".join(dict.fromkeys(each for of in lacking for each in of)))
    unknown = dict.fromkeys(
        name for need, of in zip(needs, lacking, strict=True) if not of for name in need if name not in known
    )
    types = [name for name in unknown if name.startswith("ml.")]
    if types:
        where = "" if is_all else f" on {_MOST_PAGES} pages, after which smspec stops"
        raise NotChecked(f"Service Quotas does not list `{types[0]}`{where}")
    fits = next(need for need, of in zip(needs, lacking, strict=True) if not of)
    texts = [f"{known[name]} of `{name}`" for name in fits if name in known]
    more = f"; {len(texts) - _MOST_NAMED} more fit" if len(texts) > _MOST_NAMED else ""
    others = sum(map(bool, lacking))
    instead = f"; {others} of {len(needs)} alternatives are above their quota" if others else ""
    return ok(QUOTA, "", "; ".join(texts[:_MOST_NAMED]) + more + instead)


def _lacking(need: dict[str, int], known: Mapping[str, int]) -> list[str]:
    return [
        f"the job needs {count} of `{name}`, and the quota is {known[name]}"
        for name, count in need.items()
        if count > known.get(name, count)
    ]


def _listed(calls: PreflightCalls, names: set[str]) -> tuple[dict[str, int], bool]:
    """Return the quotas of the account up to the page on which the last of ``names`` is found, and whether that is all.

    A page has 100 quotas, and SageMaker has more than 2,000.
    """
    client, found = calls.client("service-quotas"), {}
    token: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        page = calls.called(
            f"read the quotas in {calls.region}",
            "servicequotas:ListServiceQuotas",
            partial(client.list_service_quotas, ServiceCode="sagemaker", MaxResults=100, **token),
        )
        for quota in items(page, "Quotas"):
            value, name = member(quota, "Value"), member(quota, "QuotaName")
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
                continue
            if isinstance(name, str):
                found[name] = int(value)
        following = page.get("NextToken")
        if names <= found.keys() or not isinstance(following, str) or following == token.get("NextToken"):
            return found, True
        token = {"NextToken": following}
    return found, False
