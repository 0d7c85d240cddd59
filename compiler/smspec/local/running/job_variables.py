"""The environment variables that SageMaker and the image set in a container.

For the secrets of the job, a run uses the author's variables of the same names, and never asks AWS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from smspec.local.running.request import RunFailed
from smspec.local.running.training_request import TrainingRequest
from smspec.spec.model import BuiltImage, JobSpec

OWN_PREFIXES = ("SM_", "SAGEMAKER_", "TRAINING_JOB_")
"""Variables of SageMaker. Those of smspec's environment are about a different job."""


def job_variables(
    job: JobSpec, request: TrainingRequest, inherited: Mapping[str, str], interface: str
) -> dict[str, str]:
    """Return the variables of a job, with the author's `secrets`. ``inherited``: the environment of smspec."""
    return {
        **variables_of_sagemaker(job, request, inherited, interface),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written next to imported modules
        **set_by_the_job(job, request, inherited),
        **author_secrets(job.secrets, inherited),
    }


def variables_of_sagemaker(
    job: JobSpec, request: TrainingRequest, inherited: Mapping[str, str], interface: str
) -> dict[str, str]:
    """Return the variables that SageMaker sets in every container."""
    account = job.account or (request.role.split(":")[4:5] or [""])[0]
    region = job.region or inherited.get("AWS_REGION") or inherited.get("AWS_DEFAULT_REGION")
    return {
        **({"AWS_REGION": region} if region else {}),
        "TRAINING_JOB_NAME": request.name,
        "TRAINING_JOB_ARN": f"arn:aws:sagemaker:{region or 'local'}:{account}:training-job/{request.name}",
        "DMLC_INTERFACE": interface,
        "KMP_DUPLICATE_LIB_OK": "True",
        "KMP_INIT_AT_FORK": "FALSE",
    }


def set_by_the_job(job: JobSpec, request: TrainingRequest, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables in the spec; those of `image.env_prepend` come before what is inherited."""
    if not isinstance(job.image, BuiltImage):
        return dict(request.environment)
    image = job.image.env
    before = {
        name: ":".join(filter(None, (prefix, {**inherited, **image}.get(name))))
        for name, prefix in job.image.env_prepend.items()
    }
    return {**image, **before, **request.environment}


def author_secrets(names: Iterable[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for `secrets`. Raise RunFailed, which names all that are missing."""
    missing = [f"`{name}`" for name in names if name not in variables]
    if missing:
        are = "variables " + ", ".join(missing) + " are" if len(missing) > 1 else f"variable {missing[0]} is"
        raise RunFailed(3, f"the {are} not set: a local run uses your variables instead of fetching `secrets` from AWS")
    return {name: variables[name] for name in names}
