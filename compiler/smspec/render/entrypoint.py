"""The entrypoint: a short program that names what it starts and leaves the rest to the runtime next to it."""

from __future__ import annotations

from smspec.render.templating import filled
from smspec_runtime.run_plan import RunPlan

_LAUNCHERS = {
    None: ", in one process per host",
    "torchrun": ", under torchrun on every host",
    "mpi": ", under mpirun, started by the first host",
    "parameter_server": ", in one process per host, with parameter servers",
    "smdataparallel": ", under mpirun with SageMaker's data parallel library, started by the first host",
}

_SOURCES = {
    "image": "The source is in /opt/ml/code of the image.",
    "channel": "The source arrives in the channel `code`.",
    "s3": "The source arrives from S3 as sourcedir.tar.gz, at the URI in sagemaker_submit_directory.",
}


def entrypoint(run: RunPlan) -> str:
    """Return the text of ``entrypoint.py``: one template per kind of entry point."""
    return filled(
        f"{run.kind}.py.j2",
        program=run.program,
        command=run.command,
        arguments=run.arguments,
        launcher_story=_LAUNCHERS[run.launcher],
        source_story=_SOURCES[run.delivery],
    )
