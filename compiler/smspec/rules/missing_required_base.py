"""What an organization sets for all jobs is in its base specs; a job that extends none of them lacks it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.policy import Policy

RULE = Rule("SM751", "missing required base", evidence="policy")


def check_base(files: Iterable[str], policy: Policy) -> Iterator[Finding]:
    """Reject a job none of whose files is a required base spec; paths are relative to the file with the policy."""
    if policy.require_base is None:
        return
    home = posixpath.dirname(policy.path.replace("\\", "/"))
    required = {posixpath.normpath(posixpath.join(home, name)): name for name in policy.require_base}
    if not required.keys() & {posixpath.normpath(file.replace("\\", "/")) for file in files}:
        yield RULE.at(
            ("extends",),
            f"`{policy.path}` requires jobs to extend {one_of(list(required))}",
            help="add it to `extends`",
        )
