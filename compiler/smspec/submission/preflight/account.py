"""What the account of the job decides: the caller, the role, the quotas, and the training plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from smspec.render.iam.statements import SERVICE
from smspec.service.arns import Arn, parsed_arn, partitions
from smspec.service.policy_rules.limits import needed_quotas
from smspec.service.request import Request
from smspec.service.shapes import items, member
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

CALLER, ROLE, QUOTA, PLAN = "caller", "role", "quota", "training plan"
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
