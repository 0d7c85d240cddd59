"""What can start a different script than the one in the spec, or pass a different command line to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from smspec.plan.delivery import RUNTIME_ENTRYPOINT
from smspec.plan.plan import RequestPlan
from smspec.service.members import member
from smspec.source import dotted
from smspec.spec.model import BuiltImage, JobSpec, ScriptEntry
from smspec.spec.startup import starter

_ROOT = "/opt/ml"
_ALGORITHM = "AlgorithmSpecification"
_SUBMITTED = ("sagemaker_program", "sagemaker_submit_directory")

# Modules in AWS's framework containers that start the author's script themselves.
_OF_AWS = re.compile(r"sagemaker_\w+_container\.")


def replacement(job: JobSpec, request: RequestPlan, environment: Mapping[str, object]) -> str | None:
    """Return why a different script may start than the one in the spec, as the end of a sentence; None if it cannot."""
    member_path = next(_members(job, request), None)
    if member_path is not None:
        return f"`{dotted(('api', *member_path))}` may replace it"
    variable = next(_variables(job, environment), None)
    if variable is not None:
        return f"`{variable}` may replace it"
    return None


def _members(job: JobSpec, request: RequestPlan) -> Iterator[tuple[str, ...]]:
    """Yield the relevant members of the patch; all others of AlgorithmSpecification do not affect the script."""
    is_built = isinstance(job.image, BuiltImage)
    if job.api.get("ServerlessJobConfig") is not None:
        yield ("ServerlessJobConfig",)
    for name in _patched(job, _ALGORITHM, "ContainerEntrypoint"):
        planned = RUNTIME_ENTRYPOINT if not is_built and job.delivery == "channel" else ()
        written = member(request.payload, _ALGORITHM, "ContainerEntrypoint")
        if tuple(written if isinstance(written, list | tuple) else ()) != planned:
            yield name
    for name in _patched(job, _ALGORITHM, "ContainerArguments", "AlgorithmName", *(["TrainingImage"] * is_built)):
        if member(request.payload, *name) is not None or name[-1:] == ("TrainingImage",):
            yield name
    if job.delivery == "channel" and "InputDataConfig" in job.api:
        yield ("InputDataConfig",)
    if job.delivery == "s3":
        yield from _patched(job, "HyperParameters", *_SUBMITTED)


def _patched(job: JobSpec, top: str, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield which of some members the patch changes; the whole, where it is not an object."""
    if top not in job.api:
        return
    patch = job.api[top]
    if isinstance(patch, dict):
        yield from ((top, name) for name in names if name in patch)
    else:
        yield (top,)


def _variables(job: JobSpec, environment: Mapping[str, object]) -> Iterator[str]:
    """Yield the variables that affect what starts the script, where they change anything."""
    if environment.get("SAGEMAKER_BASE_DIR", _ROOT) not in (_ROOT, ""):
        yield "SAGEMAKER_BASE_DIR"
    if starter(job) == "runtime":
        # The plan in the image, or next to the entrypoint, names the script: no variable does.
        if job.delivery == "s3" and environment.get("SAGEMAKER_SUBMIT_DIRECTORY"):
            yield "SAGEMAKER_SUBMIT_DIRECTORY"
        return
    script = job.entry_point.script if isinstance(job.entry_point, ScriptEntry) else ""
    if environment.get("SAGEMAKER_PROGRAM", script) not in (script, ""):
        yield "SAGEMAKER_PROGRAM"
    module = environment.get("SAGEMAKER_TRAINING_MODULE")
    if module and not _OF_AWS.match(str(module)):
        yield "SAGEMAKER_TRAINING_MODULE"
