"""Requests of SageMaker that create something else than a training job, to say what they are."""

from __future__ import annotations

_REQUESTS = {
    "TransformJobName": "a batch transform job",
    "ProcessingJobName": "a processing job",
    "AutoMLJobName": "an AutoML job",
    "LabelingJobName": "a labeling job",
    "CompilationJobName": "a compilation job",
    "EndpointConfigName": "an endpoint configuration",
    "EndpointName": "an endpoint",
    "ModelPackageName": "a model package",
    "ModelPackageGroupName": "a model package",
    "ModelName": "a model",
    "NotebookInstanceName": "a notebook instance",
    "PipelineName": "a pipeline without its definition",
}


def kind_of(data: dict[str, object]) -> str:
    """Return what a request or response is for; an empty string if it is unknown."""
    return next((kind for name, kind in _REQUESTS.items() if name in data), "")
