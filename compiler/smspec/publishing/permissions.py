"""The statement of the submitter's policy that contains a permission."""

from __future__ import annotations

import json

from smspec.plan.plan import Plan
from smspec.render.iam.submitter import submitter_policy


def allowing_statement(plan: Plan, region: str | None, action: str) -> str:
    """Return the Sid of the statement that allows an action; empty if none does."""
    document = json.loads(submitter_policy(plan, region).text)["PolicyDocument"]
    return next((str(each["Sid"]) for each in document["Statement"] if action in each["Action"]), "")
