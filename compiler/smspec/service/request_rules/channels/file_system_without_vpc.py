"""A file system is mounted through its VPC."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM443", "file system without a VPC", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject channels that are file systems in a job without VpcConfig."""
    mounted = [channel for channel in request.channels if channel.file_system]
    if mounted and "VpcConfig" not in request.payload:
        yield RULE.at(
            ("VpcConfig",),
            f"`{request.word('VpcConfig', 'network')}` is not set, but {mounted[0].label} reads a file system",
            help=f"set `{request.word('VpcConfig', 'network')}` to subnets and security groups that can reach it",
            cause=mounted[0].file_system_path,
        )
