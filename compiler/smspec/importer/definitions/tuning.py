"""Hyperparameter tuning jobs and the training jobs in them: what a tuning job searches becomes a variable."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.importer.definitions.variables import DefinitionVariables, FoundJob
from smspec.importer.imported import Imported, NotImported, RequestNotFound
from smspec.service.shapes import items, member, pinned_model, structure

_TELLING = ("TrainingJobDefinition", "TrainingJobDefinitions", "HyperParameterTuningJobConfig")

_ONE, _SEVERAL = "TrainingJobDefinition", "TrainingJobDefinitions"
_RESOURCES = "HyperParameterTuningResourceConfig"
_CONVERTED = ("StaticHyperParameters", "HyperParameterRanges", _RESOURCES)
_OF_THE_SEARCH = ("DefinitionName", "TuningObjective")


def detect_tuning_job(data: dict[str, object]) -> bool:
    return any(name in data for name in _TELLING)


def jobs_of_tuning_job(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return a job for each training definition."""
    return tuning_jobs(data, variables, "a hyperparameter tuning job")


def tuning_jobs(data: dict[str, object], variables: DefinitionVariables, form: str) -> list[FoundJob]:
    """Return a job for each training definition of a tuning job."""
    definitions = (
        [structure(data, _ONE)] if _ONE in data else [structure({"": one}, "") for one in items(data, _SEVERAL)]
    )

    def job(index: int, definition: dict[str, object]) -> FoundJob:
        name = str(definition.get("DefinitionName") or f"{_SEVERAL}[{index}]")
        return FoundJob(name, name, lambda: _imported(data, definition, variables, form, (), name if index else ""))

    return [job(index, definition) for index, definition in enumerate(definitions)]


def tuned_job(
    data: dict[str, object], variables: DefinitionVariables, form: str, left_out: tuple[str, ...], stem: str
) -> Imported:
    """Return the only training definition of a tuning job; raise `RequestNotFound` if there are several."""
    several = items(data, _SEVERAL)
    if len(several) > 1:
        names = ", ".join(f"`{member(one, 'DefinitionName')}`" for one in several[:10])
        raise RequestNotFound(f"it tunes {len(several)} training definitions ({names}); pass a file with one of them")
    definition = structure(data, _ONE) or structure({"": several[0] if several else None}, "")
    return _imported(data, definition, variables, form, left_out, stem)


def _imported(
    data: dict[str, object],
    definition: dict[str, object],
    variables: DefinitionVariables,
    form: str,
    left_out: tuple[str, ...],
    stem: str,
) -> Imported:
    if not definition:
        raise RequestNotFound(f"the tuning job has no `{_ONE}`")
    members = pinned_model().root.members
    request = {name: value for name, value in definition.items() if name in members}
    lost = [
        NotImported((_ONE, name), "it belongs to the tuning job")
        for name in definition
        if name not in members and name not in (*_CONVERTED, *_OF_THE_SEARCH)
    ]
    hosts, more = _hosts(definition)
    if hosts:
        request["ResourceConfig"] = hosts
    lost += more
    fixed = definition.get("StaticHyperParameters")
    ranges = dict(_ranges(data, definition, variables))
    if isinstance(fixed, str):
        request["HyperParameters"] = fixed  # unknown as a whole
        lost += [
            NotImported(("HyperParameterRanges", name), "the other hyperparameters are unknown") for name in ranges
        ]
    elif fixed or ranges:
        request["HyperParameters"] = {**structure(definition, "StaticHyperParameters"), **ranges}
    if "Tags" in data:
        request["Tags"] = data["Tags"]  # those of the tuning job are given to its training jobs
    name = data.get("HyperParameterTuningJobName")
    return Imported(
        form=form,
        request=request,
        not_imported=tuple(lost),
        left_out=(*(name for name in data if name not in (_ONE, _SEVERAL, "Tags")), *left_out),
        stem=stem or (variables.with_defaults(name) if isinstance(name, str) else ""),
    )


def _hosts(definition: dict[str, object]) -> tuple[dict[str, object], list[NotImported]]:
    """Return the hosts; of several instance types to choose from, the first."""
    hosts = structure(definition, _RESOURCES)
    if not hosts:
        return {}, []
    choices = items(hosts, "InstanceConfigs")
    lost = [
        NotImported((_RESOURCES, "InstanceConfigs", index), "a job has one type") for index in range(1, len(choices))
    ]
    rest = {name: value for name, value in hosts.items() if name not in ("InstanceConfigs", "AllocationStrategy")}
    return {**structure({"": choices[0] if choices else None}, ""), **rest}, lost


def _ranges(
    data: dict[str, object], definition: dict[str, object], variables: DefinitionVariables
) -> Iterator[tuple[str, str]]:
    ranges = structure(definition, "HyperParameterRanges") or structure(
        data, "HyperParameterTuningJobConfig", "ParameterRanges"
    )
    for kind, listed in ranges.items():
        for each in listed if isinstance(listed, list) else []:
            name = member(each, "Name")
            if isinstance(name, str):
                text, example = _range(kind, each)
                mark = variables.mark(f"range of {name}", name=name, description=text, example=example)
                yield name, mark


def _range(kind: str, each: object) -> tuple[str, object]:
    """Return what a range is for a reader, and a value in it."""
    values = items(each, "Values")
    if kind.startswith("Categorical"):
        return f"tuned: {', '.join(map(str, values))}"[:200], values[0] if values else None
    if kind.startswith("Auto"):
        return f"tuned, near {member(each, 'ValueHint')}", member(each, "ValueHint")
    low, high, scale = (member(each, name) for name in ("MinValue", "MaxValue", "ScalingType"))
    ending = f", {scale}" if scale and scale != "Auto" else ""
    return f"tuned: {low} to {high}{ending}", low
