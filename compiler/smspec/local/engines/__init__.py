"""The engines of `smspec run`: one file or package each. A line in `ENGINES` makes one known."""

from __future__ import annotations

from smspec.local.engines.engine import Engine, EngineKind, JobToRun

AUTO = "auto"


def _open_process(job: JobToRun) -> Engine:
    from smspec.local.engines.process import ProcessEngine  # imported late, as all engines: a run needs one

    return ProcessEngine(job)


def _not_built() -> str:
    return "smspec does not start containers"


def _always_available() -> None:
    return None


ENGINES = {
    "process": EngineKind(unavailable=_always_available, open=_open_process),
    "docker": EngineKind(unavailable=_not_built, open=_open_process),
    "podman": EngineKind(unavailable=_not_built, open=_open_process),
    "nerdctl": EngineKind(unavailable=_not_built, open=_open_process),
    "finch": EngineKind(unavailable=_not_built, open=_open_process),
}
"""By the name that `--engine` takes."""
