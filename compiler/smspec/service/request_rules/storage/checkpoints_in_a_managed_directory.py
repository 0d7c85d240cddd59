"""SageMaker manages some directories below /opt/ml."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM469", "checkpoints in a directory that SageMaker manages", evidence="inferred")
MANAGED = ("/opt/ml/input", "/opt/ml/model", "/opt/ml/output", "/opt/ml/code")


def check(request: Request) -> Iterator[Finding]:
    """Reject a checkpoint directory that SageMaker uses for something else."""
    local = structure(request.payload, "CheckpointConfig").get("LocalPath")
    if not isinstance(local, str) or not local.startswith("/"):
        return
    place = posixpath.normpath(local).replace("//", "/")
    for directory in MANAGED:
        is_above = f"{directory}/".startswith(f"{place.rstrip('/')}/") and place != directory
        if is_above or f"{place}/".startswith(f"{directory}/"):
            yield RULE.at(
                ("CheckpointConfig", "LocalPath"),
                f"{HERE} {'contains' if is_above else 'is in'} `{directory}`, which SageMaker manages",
                help="use a different directory, or remove the key; the default is /opt/ml/checkpoints",
            )
            return
