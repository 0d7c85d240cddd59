"""Choose the engine of a run: the one that is named, or the best one that needs nothing installed."""

from __future__ import annotations

from dataclasses import replace

from smspec.local.engines import AUTO, ENGINES
from smspec.local.engines.engine import Engine, JobToRun
from smspec.local.request import RunFailed

_BY_PREFERENCE = ("namespace", "process")
"""Never an engine that would build an image: that takes minutes and must be asked for."""


def open_engine(job: JobToRun) -> Engine:
    """Return the engine of a run. Raise RunFailed if the named one is not available: there is no fallback."""
    name = job.request.engine
    if name != AUTO:
        reason = ENGINES[name].unavailable()
        if reason is not None:
            raise RunFailed(3, f"`--engine {name}` is not available: {reason}")
        return ENGINES[name].open(job)
    why = ""
    for name in _BY_PREFERENCE:
        reason = ENGINES[name].unavailable()
        if reason is None:
            return ENGINES[name].open(replace(job, why=why))
        why = why or reason
    raise AssertionError("the engine `process` is always available")
