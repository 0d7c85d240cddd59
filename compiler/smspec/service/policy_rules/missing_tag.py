"""Tags show who pays for a job, and who is responsible for it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.member_names import shown
from smspec.service.members import items, member
from smspec.service.policy import Policy
from smspec.service.request import Request

RULE = Rule("SM740", "missing required tag", evidence="policy")

_MOST_NAMED = 8


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job without a required tag, or with a value that is not allowed."""
    tags = {
        member(tag, "Key"): (index, member(tag, "Value")) for index, tag in enumerate(items(request.payload, "Tags"))
    }
    for name, values in policy.required_tags.items():
        file = policy.file_of("required_tags", name)
        if name not in tags:
            yield RULE.at(
                ("Tags",),
                f"`{file}` requires the tag `{name}` in `{request.word('Tags', 'tags')}`",
                help=_help(values),
                on="key",
            )
        elif values and tags[name][1] not in values:
            yield RULE.at(
                ("Tags", tags[name][0], "Value"),
                f"`{file}` does not allow `{shown(str(tags[name][1]))}` for the tag `{name}`",
                help=_help(values),
            )


def _help(values: tuple[str, ...]) -> str:
    return f"use {one_of(values)}" if 0 < len(values) <= _MOST_NAMED else "add the tag, or ask the policy owner"
