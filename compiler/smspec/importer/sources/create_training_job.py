"""A CreateTrainingJob request, in the format of `aws sagemaker create-training-job --cli-input-json`."""

from __future__ import annotations

from smspec.importer.imported import Imported

_TELLING = ("TrainingJobName", "AlgorithmSpecification", "ServerlessJobConfig", "OutputDataConfig")


def detect(data: dict[str, object]) -> bool:
    return any(name in data for name in _TELLING)


def to_request(data: dict[str, object]) -> Imported:
    """Return the request unchanged."""
    return Imported(form="a CreateTrainingJob request", request=data)
