"""A file system is mounted through the VPC it is in."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM443", "file system without a VPC", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Refuse channels that are file systems in a job without VpcConfig."""
    mounted = [channel for channel in request.channels if channel.file_system]
    if mounted and "VpcConfig" not in request.payload:
        yield RULE.at(
            ("VpcConfig",),
            f"{mounted[0].said} is a file system, which is mounted through a VPC, and the job has none",
            help=f"give `{request.word('VpcConfig', 'network')}` with subnets and security groups that reach it",
            cause=mounted[0].file_system_path,
        )
