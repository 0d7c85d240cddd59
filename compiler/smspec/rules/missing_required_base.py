"""What an organization sets for all jobs is in its base specs; a job that extends none of them lacks it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.policy import Policy

RULE = Rule("SM751", "missing required base", evidence="policy", needs_every_layer=True)


def check_base(files: Iterable[str], policy: Policy) -> Iterator[Finding]:
    """Reject a job none of whose files is a required base spec; paths are relative to the file with the policy."""
    extended = {posixpath.normpath(file.replace("\\", "/")) for file in files} if policy.require_base else set()
    for one in policy.require_base:
        home = posixpath.dirname(one.file.replace("\\", "/"))
        required = [posixpath.normpath(posixpath.join(home, name)) for name in one.names]
        if extended.isdisjoint(required):
            yield RULE.at(
                ("extends",),
                f"`{one.file}` requires jobs to extend {one_of(list(dict.fromkeys(required)))}",
                help="add it to `extends`",
            )
