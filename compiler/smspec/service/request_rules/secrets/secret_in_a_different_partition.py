"""The credentials of a role are only valid in its partition."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.secret_reference import secret_reference
from smspec.service.secret_settings import secret_path, secret_settings

RULE = Rule("SM614", "secret in a different partition")


def check(request: Request) -> Iterator[Finding]:
    """Reject a secret that is in a different partition than the role."""
    role = request.role
    for name, text in secret_settings(request).items():
        found = secret_reference(text)
        if role is not None and found is not None and found.partition != role.partition:
            yield RULE.at(
                secret_path(name),
                f"`secrets.{shown(name)}` is in the partition `{shown(found.partition)}`, "
                f"but the role is in `{shown(role.partition)}`",
                help=f"use a secret in the partition `{shown(role.partition)}`",
            )
