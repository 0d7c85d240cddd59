"""Choose the engine of a run: the one that is named, or the best one that needs nothing installed."""

from __future__ import annotations

from dataclasses import replace

from smspec.local.engines import AUTO, ENGINES
from smspec.local.engines.engine import Engine, JobToRun
from smspec.local.engines.fault_support import unsupported
from smspec.local.request import RunFailed

_BY_PREFERENCE = ("namespace", "process")
"""Never an engine that would build an image: that takes minutes and must be asked for."""


def open_engine(job: JobToRun) -> Engine:
    """Return the engine of a run. Raise RunFailed if the named one is not available: there is no fallback."""
    name, why = chosen_engine(job.request.engine)
    if job.request.faults is not None:
        reason = unsupported(job.request.faults, name)
        if reason is not None:
            raise RunFailed(3, reason)
    return ENGINES[name].open(replace(job, why=why))


def chosen_engine(name: str) -> tuple[str, str]:
    """Return the name of the engine, and why it is not the preferred one. Raise RunFailed."""
    if name != AUTO:
        reason = ENGINES[name].unavailable()
        if reason is not None:
            raise RunFailed(3, f"`--engine {name}` is not available: {reason}")
        return name, ""
    why = ""
    for name in _BY_PREFERENCE:
        reason = ENGINES[name].unavailable()
        if reason is None:
            return name, why
        why = why or reason
    raise AssertionError("the engine `process` is always available")
