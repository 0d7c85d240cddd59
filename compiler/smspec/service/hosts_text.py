"""The hosts of a request in a few words."""

from __future__ import annotations

from smspec.service.instance_time import instance_counts
from smspec.service.request import Request


def hosts_text(payload: dict[str, object]) -> str:
    """Return the instances of a request, such as ``2 × ml.g5.xlarge, spot``."""
    hosts = " + ".join(f"{count} × {kind}" for kind, count in instance_counts(payload).items())
    return f"{hosts or 'hosts that SageMaker chooses'}{', spot' if Request(payload=payload).uses_spot else ''}"
