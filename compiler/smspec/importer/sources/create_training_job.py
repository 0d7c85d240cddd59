"""A CreateTrainingJob request, as `aws sagemaker create-training-job --cli-input-json` takes it."""

from __future__ import annotations

from smspec.importer.imported import Imported

_TELLING = ("TrainingJobName", "AlgorithmSpecification", "ServerlessJobConfig", "OutputDataConfig")


def detect(data: dict[str, object]) -> bool:
    return any(name in data for name in _TELLING)


def to_request(data: dict[str, object]) -> Imported:
    """Return the request as it is."""
    return Imported(form="a CreateTrainingJob request", request=data)
