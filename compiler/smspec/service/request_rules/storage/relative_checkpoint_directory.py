"""A container has no defined working directory for a relative path."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM468", "relative checkpoint directory", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a checkpoint directory that does not start with a slash. An empty one is the default."""
    local = structure(request.payload, "CheckpointConfig").get("LocalPath")
    if isinstance(local, str) and local and not local.startswith("/"):
        yield RULE.at(
            ("CheckpointConfig", "LocalPath"),
            f"{HERE} is not an absolute path: `{shown(local)}`",
            help="use an absolute path, or remove the key; the default is /opt/ml/checkpoints",
        )
