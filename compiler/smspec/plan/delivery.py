"""How source and runtime reach the container, and what then starts the job.

| image | delivery | request |
|---|---|---|
| built | image | nothing extra |
| built | channel | channel `code` |
| built | s3 | `sagemaker_program`, `sagemaker_submit_directory` |
| existing | channel | channels `code` and `smspec`, the smspec entrypoint |
| existing | s3 | the same two hyperparameters and the launcher's: the image's own toolkit starts the job |
| existing | none | the author's command, if any |

Hyperparameters configure SageMaker's own toolkit to launch processes as in the spec.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from smspec.plan import BuildInputs, Upload, digest, s3_prefix
from smspec.source.frozen import ByContent, dataclass, replace
from smspec.spec.model import (
    DISTRIBUTIONS,
    BuiltImage,
    CommandEntry,
    Distribution,
    Hosts,
    Hyperparameter,
    JobSpec,
    ModuleEntry,
    Mpi,
    ParameterServer,
    PipeLoopEntry,
    ScriptEntry,
    SmDataParallel,
    Torchrun,
)
from smspec.spec.startup import starter
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL, RunPlan, RunSettings

RUNTIME_ENTRYPOINT = ("python3", f"/opt/ml/input/data/{RUNTIME_CHANNEL}/entrypoint.py")
ARCHIVE = "sourcedir.tar.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """``channels``: name → S3 prefix of generated ones. ``hyperparameters`` are typed, like those of the author.

    ``archive_digest``: the digest of the files in an uploaded archive.
    """

    channels: tuple[tuple[str, str], ...] = ()
    hyperparameters: tuple[Hyperparameter, ...] = ()
    entrypoint: tuple[str, ...] = ()
    uploads: tuple[Upload, ...] = ()
    archive_digest: str | None = None


def plan_delivery(job: JobSpec, run: RunPlan | None, build_inputs: BuildInputs) -> Delivery:
    """Return the row of the table for a job, filled in."""
    is_built = isinstance(job.image, BuiltImage)
    match job.delivery:
        case "channel":
            uploads = [_upload("source", job, {"source": build_inputs.source.digest})]
            if not is_built and run is not None:
                content = {
                    "templates": build_inputs.templates,
                    "run_plan": run_plan_json(run),
                    "runtime": build_inputs.runtime.digest,
                }
                uploads.append(_upload("runtime", job, content))
            names = {"source": CODE_CHANNEL, "runtime": RUNTIME_CHANNEL}
            return Delivery(
                hyperparameters=_launcher_groups(job),
                channels=tuple((names[upload.kind], upload.uri) for upload in uploads),
                entrypoint=() if is_built or run is None else RUNTIME_ENTRYPOINT,
                uploads=tuple(uploads),
            )
        case "s3":
            archive = _upload("source", job, {"archive": build_inputs.source.digest})
            archive = replace(archive, uri=archive.uri + ARCHIVE, archive=True)
            return Delivery(
                hyperparameters=_submit_hyperparameters(job, archive.uri)
                + (_launcher_groups(job) if is_built else toolkit_hyperparameters(job)),
                uploads=(archive,),
                archive_digest=build_inputs.source.digest,
            )
        case "image":
            return Delivery(hyperparameters=_launcher_groups(job))
        case None:
            command = job.entry_point.command if isinstance(job.entry_point, CommandEntry) and not is_built else ()
            return Delivery(entrypoint=command)


def source_prefix(job: JobSpec) -> str:
    """Return the S3 prefix for sources of this job."""
    written = job.source.s3 if job.source else None
    return s3_prefix(written) if written else s3_prefix(job.output.s3, job.name, "source")


def _upload(kind: Literal["runtime", "source"], job: JobSpec, content: dict[str, str]) -> Upload:
    """Return an upload named by the digest of its content; an archive and single files never share a prefix."""
    uri, kms_key = s3_prefix(source_prefix(job), digest(content)), job.source.kms_key if job.source else None
    return Upload(kind=kind, uri=uri, archive=False, kms_key=kms_key)


def _submit_hyperparameters(job: JobSpec, archive: str) -> tuple[Hyperparameter, ...]:
    program = (
        (Hyperparameter(name="sagemaker_program", value=job.entry_point.script),)
        if isinstance(job.entry_point, ScriptEntry)
        else ()
    )
    return (*program, Hyperparameter(name="sagemaker_submit_directory", value=archive))


def toolkit_hyperparameters(job: JobSpec) -> tuple[Hyperparameter, ...]:
    """Return the reserved hyperparameters of the toolkit for the job's launcher."""
    values: dict[str, object] = {}
    match job.distribution:
        case Mpi(processes_per_host=processes, options=options):
            values["sagemaker_mpi_enabled"] = True
            if processes != "auto":
                values["sagemaker_mpi_num_of_processes_per_host"] = processes
            if options:
                values["sagemaker_mpi_custom_mpi_options"] = " ".join(options)
        case Torchrun():
            values["sagemaker_torch_distributed_enabled"] = True
            values |= _instance_type(job.hosts)
        case SmDataParallel():
            values["sagemaker_distributed_dataparallel_enabled"] = True
            values |= _instance_type(job.hosts)
        case ParameterServer():
            values["sagemaker_parameter_server_enabled"] = True
        case None:
            return ()
    return (*(Hyperparameter(name=name, value=value) for name, value in values.items()), *_launcher_groups(job))


def _launcher_groups(job: JobSpec) -> tuple[Hyperparameter, ...]:
    """Return the groups of one cluster. By default the toolkit and the runtime make a cluster of each group."""
    if not (job.distribution and job.hosts and job.hosts.groups):
        return ()
    names = [group.name for group in job.hosts.groups]
    return (Hyperparameter(name="sagemaker_distribution_instance_groups", value=names),)


def _instance_type(hosts: Hosts | None) -> dict[str, object]:
    if hosts is None:
        return {}
    written = hosts.groups[0].instance_type if hosts.groups else hosts.instance_type
    return {"sagemaker_instance_type": written} if written else {}


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
