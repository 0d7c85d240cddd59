"""The engines of `smspec run` by name, why this machine cannot run one, and the one that `auto` takes."""

from __future__ import annotations

import os
import sys

from smspec.local.engines.engine import Engine, EngineKind, JobToRun
from smspec.local.running.request import RunFailed, SurroundingFaults
from smspec.source.frozen import replace

AUTO = "auto"
_BY_PREFERENCE = ("namespace", "process")
"""Never an engine that would build an image: that takes minutes and must be asked for."""

_NAMESPACE = "pass `--engine namespace`"


def _open_namespace(job: JobToRun) -> Engine:
    from smspec.local.engines.namespace.namespace_engine import NamespaceEngine

    return NamespaceEngine(job)


def _namespace_unavailable() -> str | None:
    from smspec.local.engines.namespace.availability import unavailable

    return unavailable()


def _open_process(job: JobToRun) -> Engine:
    from smspec.local.engines.process import ProcessEngine  # imported late, as all engines: a run needs one

    return ProcessEngine(job)


def builds_images(engine: str) -> bool:
    """Return whether an engine, or ``auto``, may build the image of a job."""
    return engine not in (AUTO, *_BY_PREFERENCE)


def _containers(program: str) -> EngineKind:
    def open_containers(job: JobToRun) -> Engine:
        from smspec.local.engines.containers.container_engine import ContainerEngine

        return ContainerEngine(job, program)

    def containers_unavailable() -> str | None:
        from smspec.local.engines.containers.client import unavailable

        return unavailable(program)

    return EngineKind(unavailable=containers_unavailable, open=open_containers)


def _always_available() -> None:
    return None


ENGINES = {
    "namespace": EngineKind(unavailable=_namespace_unavailable, open=_open_namespace),
    "process": EngineKind(unavailable=_always_available, open=_open_process),
    **{program: _containers(program) for program in ("docker", "podman", "nerdctl", "finch")},
}
"""By the name that `--engine` takes."""


def open_engine(job: JobToRun) -> Engine:
    """Return the engine of a run. Raise RunFailed if the named one is not available: there is no fallback."""
    name, why = chosen_engine(job.request.engine)
    if job.request.faults is not None:
        reason = unsupported_faults(job.request.faults, name)
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
    from smspec.local.engines.namespace.availability import untried

    reason = untried()
    if reason is not None:  # what confines the job must not depend on what else runs at the moment
        raise RunFailed(3, f"{reason}; try again, or pass `--engine process`, which confines nothing")
    why = ""
    for name in _BY_PREFERENCE:
        reason = ENGINES[name].unavailable()
        if reason is None:
            return name, why
        why = why or reason
    raise AssertionError("the engine `process` is always available")


def unsupported_faults(faults: SurroundingFaults, engine: str) -> str | None:
    """Return why an engine cannot inject the faults, and what to do; None if it can."""
    if faults.room is not None and engine == "process":
        return f"`--engine {engine}` cannot limit the disk of a host: {_NAMESPACE}"
    if faults.protects_model and engine == "process" and os.geteuid() == 0:
        return f"root may write to a directory that is read-only: {_NAMESPACE}"
    is_here = engine in ("namespace", "process")
    if faults.kill_after is not None and is_here and not sys.platform.startswith("linux"):
        return "smspec finds the processes of a job only on Linux"
    return None
