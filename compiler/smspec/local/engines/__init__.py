"""The engines of `smspec run`: one file or package each. A line in `ENGINES` makes one known.

An `Engine` is everything of a run that depends on how its hosts are started: processes of this machine, processes in
namespaces, or containers. It gets a `JobToRun` and returns a `RunningHost` for each host. Layout, feeders, supervision,
and results are the same for all, so an engine must not know them. A fault that only some engines can inject is refused
by the others with a reason.
"""

from __future__ import annotations

from smspec.local.engines.engine import Engine, EngineKind, JobToRun

AUTO = "auto"


def _open_namespace(job: JobToRun) -> Engine:
    from smspec.local.engines.namespace.namespace_engine import NamespaceEngine

    return NamespaceEngine(job)


def _namespace_unavailable() -> str | None:
    from smspec.local.engines.namespace.availability import unavailable

    return unavailable()


def _open_process(job: JobToRun) -> Engine:
    from smspec.local.engines.process import ProcessEngine  # imported late, as all engines: a run needs one

    return ProcessEngine(job)


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
