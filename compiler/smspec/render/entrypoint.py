"""The entrypoint: a short program that says what it starts and leaves the rest to the runtime beside it."""

from __future__ import annotations

from smspec.render.templating import filled
from smspec_runtime.run_plan import RunPlan

_LAUNCHERS = {
    None: ", in one process per host",
    "torchrun": ", under torchrun on every host",
    "mpi": ", under mpirun, which the first host starts for all",
    "parameter_server": ", in one process per host, with parameter servers beside them",
    "smdataparallel": ", under mpirun with SageMaker's data parallel library, which the first host starts for all",
}

_SOURCES = {
    "image": "The source lies in /opt/ml/code, put there when the image was built.",
    "channel": "The source arrives in the channel `code`.",
    "s3": "The source arrives from S3 as sourcedir.tar.gz, from where sagemaker_submit_directory says.",
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
