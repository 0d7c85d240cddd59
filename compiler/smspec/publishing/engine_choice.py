"""The engine that builds images: the one that is named, or the first one that answers."""

from __future__ import annotations

from smspec.local.engines.containers.client import Client, unavailable
from smspec.publishing.engine_names import ENGINES
from smspec.publishing.publication import PublishFailed


def chosen_engine(named: str | None) -> Client:
    """Return the client of an engine. Raise `PublishFailed`; there is no fallback for a named one."""
    if named is not None:
        reason = unavailable(named)
        if reason is not None:
            raise PublishFailed(3, f"`--engine {named}` is not available: {reason}")
        return Client(named)
    reasons = {}
    for name in ENGINES:
        reason = unavailable(name)
        if reason is None:
            return Client(name)
        if "not installed" not in reason:
            reasons[name] = reason
    if not reasons:
        raise PublishFailed(3, "no engine builds images here: install docker, podman, nerdctl, or finch")
    raise PublishFailed(3, f"no engine builds images here: {'; '.join(reasons.values())}")
