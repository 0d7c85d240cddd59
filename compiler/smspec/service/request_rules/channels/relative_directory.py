"""The directory of a file system is a path from its root."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM445", "relative directory of a file system", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject a DirectoryPath that does not begin with `/`, or is not normalized."""
    for channel in request.channels:
        directory = channel.file_system.get("DirectoryPath")
        fault = _fault(directory) if isinstance(directory, str) else ""
        if fault:
            yield RULE.at(
                (*channel.file_system_path, "DirectoryPath"),
                f"{HERE} {fault}: `{shown(directory)}`",
                help="use an absolute path; on FSx for Lustre it begins with the mount name",
            )


def _fault(directory: str) -> str:
    steps = directory.split("/")
    if not directory.startswith("/"):
        return "does not begin with `/`"
    if "//" in directory:
        return "contains `//`"
    return f"contains `{'..' if '..' in steps else '.'}`" if {".", ".."} & set(steps) else ""
