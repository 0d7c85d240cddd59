"""A variable has one value: a secret overwrites that of the environment."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.secret_settings import secret_settings

RULE = Rule("SM611", "variable set as secret and in environment")


def check(request: Request) -> Iterator[Finding]:
    """Reject a variable that is in both."""
    secrets = secret_settings(request)
    for name in structure(request.payload, "Environment"):
        if name in secrets:
            yield RULE.at(
                ("Environment", name),
                f"{HERE} and `secrets.{shown(name)}` set the same variable",
                help="remove this one: the secret overwrites it",
                on="key",
            )
