"""An isolated container has neither a network nor credentials, so every call of AWS fails."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.script.script_and_job import ScriptAndJob

RULE = Rule("SM539", "AWS call in an isolated job")

_ENDPOINTS = ("AWS_ENDPOINT_URL", "FSSPEC_S3")
"""A variable that begins with one of these sends calls to another address, such as a server in the container."""


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject network isolation where every run of the script calls AWS."""
    path = both.environment.isolation_path
    if path is None or any(name.startswith(_ENDPOINTS) for name in both.environment.variables):
        return
    for use in both.program.aws_uses[:1]:
        yield RULE.at(
            path,
            f"`{both.name}` calls `{use.written}`, but `network.isolation` is true",
            help="pass the data as a channel, or remove `network.isolation`",
            notes=(Note("the script calls AWS here", use.place),),
        )
