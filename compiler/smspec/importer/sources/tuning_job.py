"""A CreateHyperParameterTuningJob request, or the output of DescribeHyperParameterTuningJob."""

from __future__ import annotations

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.tuning import tuning_jobs
from smspec.importer.definitions.variables import DefinitionVariables

_TELLING = ("TrainingJobDefinition", "TrainingJobDefinitions", "HyperParameterTuningJobConfig")


def detect(data: dict[str, object]) -> bool:
    return any(name in data for name in _TELLING)


def jobs(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return a job for each training definition."""
    return tuning_jobs(data, variables, "a hyperparameter tuning job")
