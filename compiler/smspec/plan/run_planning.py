"""Plan how the smspec runtime starts the script, if the job uses the runtime."""

from __future__ import annotations

import json
from collections.abc import Mapping

from smspec.source.memo import ByContent
from smspec.spec.model import (
    DISTRIBUTIONS,
    CommandEntry,
    Distribution,
    JobSpec,
    ModuleEntry,
    Mpi,
    ParameterServer,
    PipeLoopEntry,
    ScriptEntry,
    Torchrun,
)
from smspec.spec.startup import starter
from smspec_runtime.run_plan import RunPlan, RunSettings

_WRITTEN: ByContent[str] = ByContent()
DEFAULT_CHECKPOINTS = "/opt/ml/checkpoints"


def plan_run(job: JobSpec) -> RunPlan | None:
    """Return the run plan for the image; None if an existing image starts the job itself."""
    if starter(job) != "runtime":
        return None
    delivery = job.delivery or "image"
    launcher = launcher_name(job.distribution)
    entry = job.entry_point
    if isinstance(entry, ScriptEntry):
        return RunPlan(
            kind="script",
            program=entry.script,
            arguments=list(entry.args),
            args_style=entry.args_style,
            launcher=launcher,
            delivery=delivery,
        )
    if isinstance(entry, CommandEntry):
        return RunPlan(
            kind="command",
            command=list(entry.command),
            args_style=entry.args_style,
            launcher=launcher,
            delivery=delivery,
        )
    if isinstance(entry, ModuleEntry):
        return RunPlan(kind="module", program=entry.module, args_style="none", launcher=launcher, delivery=delivery)
    if isinstance(entry, PipeLoopEntry):
        return RunPlan(
            kind="pipe_loop", program=entry.pipe_loop, args_style="none", launcher=launcher, delivery=delivery
        )
    return None


def run_plan_json(run: RunPlan) -> str:
    """Return the content of run_plan.json, which is reproducible."""
    return _WRITTEN.of(run._fields, tuple(run), lambda _: json.dumps(run._asdict(), sort_keys=True, indent=2) + "\n")


def plan_settings(job: JobSpec, attributes: dict[str, list[str]], archive_digest: str | None) -> RunSettings:
    """Return the settings that SageMaker does not pass to the container.

    ``attributes``: those of the channels in the request.
    """
    loop = job.entry_point if isinstance(job.entry_point, PipeLoopEntry) else None
    checkpoints = job.checkpoints.local if job.checkpoints else None
    return RunSettings(
        # The hyperparameter `epochs` reaches the container directly, and a tuner may change it there.
        epochs=loop.epochs if loop else None,
        read=dict(loop.read) if loop else {},
        attributes=attributes,
        prefetch=loop.prefetch if loop else None,
        open_timeout=loop.open_timeout if loop else None,
        launcher=launcher_options(job.distribution),
        checkpoints=checkpoints if checkpoints and checkpoints.rstrip("/") != DEFAULT_CHECKPOINTS else None,
        source=archive_digest,
        secrets=_references(job.secrets) if job.secrets else {},
    )


def _references(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the ARNs; anything else may be the secret itself, which must not be sent."""
    # Imported late: few jobs have secrets.
    from smspec.service.runtime_settings import secret_reference

    return {name: text for name, text in secrets.items() if secret_reference(text)}


def launcher_name(distribution: Distribution | None) -> str | None:
    """Return the name of a launcher in the runtime."""
    return next((name for name, kind in DISTRIBUTIONS.items() if type(distribution) is kind), None)


def launcher_options(distribution: Distribution | None) -> dict[str, object]:
    """Return the options of a launcher that differ from the defaults: one process per GPU, port 7777."""
    options: dict[str, object] = {}
    if isinstance(distribution, Torchrun | Mpi) and distribution.processes_per_host != "auto":
        options["processes_per_host"] = distribution.processes_per_host
    if isinstance(distribution, Torchrun) and distribution.port != Torchrun().port:
        options["port"] = distribution.port
    if isinstance(distribution, Mpi) and distribution.options:
        options["options"] = list(distribution.options)
    if isinstance(distribution, ParameterServer):
        options["framework"] = distribution.framework
    return options
