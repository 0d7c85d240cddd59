"""Statements of an IAM policy."""

from __future__ import annotations

import re

from smspec.service.arns import parsed_arn
from smspec.source.frozen import dataclass

Statement = dict[str, object]

SERVICE = "sagemaker.amazonaws.com"
PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the job runs, in the notation of ARNs; an unknown part is ``*``."""

    partition: str
    region: str
    account: str

    def arn(self, service: str, resource: str) -> str:
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"


def place_of(payload: dict[str, object], region: str | None) -> Place:
    """Return the place of a job: partition and account are those of its role."""
    role = parsed_arn(payload.get("RoleArn"))
    return Place(
        partition=role.partition if role else "aws",
        region=region or "*",
        account=role.account if role and role.account else "*",
    )


def allow(sid: str, actions: list[str], resources: list[str], condition: Statement | None = None) -> Statement:
    """Return a statement; resources are sorted and unique."""
    statement: Statement = {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": _one_or_more(resources)}
    return statement | ({"Condition": condition} if condition else {})


def policy(statements: list[Statement]) -> Statement:
    return {"Version": "2012-10-17", "Statement": statements}


def literal(text: str) -> str:
    """Return a text escaped for a policy, which has wildcards and variables (IAM, policy variables)."""
    return re.sub(r"[*?$]", lambda match: f"${{{match[0]}}}", text)


def _one_or_more(resources: list[str]) -> str | list[str]:
    unique = sorted(set(resources))
    return unique[0] if len(unique) == 1 else unique
