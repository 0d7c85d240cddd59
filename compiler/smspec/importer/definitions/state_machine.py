"""The states of a state machine that create a training job, or tune one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.state_expressions import of_json_path, of_jsonata
from smspec.importer.definitions.tuning import tuned_job
from smspec.importer.definitions.variables import PLACEHOLDER, DefinitionVariables
from smspec.importer.imported import Imported, RequestNotFound
from smspec.service.members import structure
from smspec.source import Path
from smspec.source.node import dotted

_RESOURCE = re.compile(
    r"(?i:arn:[^:]+:states:[^:]*:[^:]*:(?:aws-sdk:)?sagemaker:create(?P<kind>Training|HyperParameterTuning)Job)"
    r"(?:\.sync(?::[0-9])?)?"
)
_NAME_IN_JSONPATH = re.compile(r"States\.Format\('(?P<stem>[A-Za-z0-9-]+)-\{\}', \$\.run\.id\)")
_NAME_IN_JSONATA = re.compile(r"\{% '(?P<stem>[A-Za-z0-9-]+)-' & \$states\.input\.run\.id %\}")
_OF_A_TASK = ("Type", "Resource", "QueryLanguage")
_ARGUMENTS = ("Parameters", "Arguments")


def creates_a_job(value: object, variables: DefinitionVariables) -> bool:
    """Return whether a value has a state that creates a training job."""
    return any(True for _ in _states(value, (), variables))


def jobs_of_states(
    value: object, variables: DefinitionVariables, *, is_deployed: bool = False, beside: str = ""
) -> list[FoundJob]:
    """Return the jobs of a state machine, or of one state.

    ``is_deployed``: ``${Name}`` is a text, because a deployment would have replaced it. ``beside``: the definition's
    place in a template.
    """
    found = list(_states(value, (), variables))
    is_text = is_deployed or any(_own_name(structure(state, key)) for _, state in found for key in _ARGUMENTS)
    return [_job(path, state, variables, is_text, beside) for path, state in found]


def _job(path: Path, state: dict[str, object], variables: DefinitionVariables, is_text: bool, beside: str) -> FoundJob:
    return FoundJob(
        name=str(path[-1]) if path else beside,
        place=".".join(filter(None, (beside, dotted(path)))),
        imported=lambda: _imported(path, state, variables, is_text),
    )


def _imported(path: Path, state: dict[str, object], variables: DefinitionVariables, is_text: bool) -> Imported:
    key = next((name for name in _ARGUMENTS if name in state), "")
    given = structure(state, key)
    if not given:
        raise RequestNotFound(f"the state `{dotted(path)}` has no `Parameters` or `Arguments`")
    own = _own_name(given)
    if own is not None:
        given = {name: value for name, value in given.items() if not name.startswith("TrainingJobName")}
    if not is_text:
        given = _without_placeholders(given, variables)
    known = structure({"": _known(given, key == "Arguments", variables)}, "")
    if own is not None:
        known["TrainingJobName"] = own
    left_out = (
        *(name for name in state if name not in (key, *_OF_A_TASK)),
        *(("the rest of the state machine",) if len(path) > 1 else ()),
    )
    stem = str(path[-1]) if path else ""
    if _kind(state, variables) == "hyperparametertuning":
        return tuned_job(known, variables, "a Step Functions state that tunes hyperparameters", left_out, stem)
    return Imported(form="a Step Functions state", request=known, left_out=left_out, stem=stem)


def _own_name(given: dict[str, object]) -> str | None:
    """Return the name of the job in what `smspec render --step-functions` has written."""
    for member, form in (("TrainingJobName.$", _NAME_IN_JSONPATH), ("TrainingJobName", _NAME_IN_JSONATA)):
        written = given.get(member)
        found = form.fullmatch(written) if isinstance(written, str) else None
        if found is not None:
            return found["stem"]
    return None


def _kind(state: dict[str, object], variables: DefinitionVariables) -> str | None:
    resource = state.get("Resource")
    found = _RESOURCE.fullmatch(variables.with_defaults(resource)) if isinstance(resource, str) else None
    if found is None and isinstance(resource, str):
        # The partition of a template is often its own parameter.
        found = _RESOURCE.fullmatch(PLACEHOLDER.sub("aws", variables.with_defaults(resource)))
    return found["kind"].lower() if found else None


def _states(value: object, path: Path, variables: DefinitionVariables) -> Iterator[tuple[Path, dict[str, object]]]:
    """Yield every state that creates a training job, also those inside of parallel branches and maps."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _states(item, (*path, index), variables)
    elif isinstance(value, dict):
        if _kind(value, variables):
            yield path, value
        else:
            for name, inner in value.items():
                if name not in _ARGUMENTS:
                    yield from _states(inner, (*path, name), variables)


def _known(value: object, is_jsonata: bool, variables: DefinitionVariables) -> object:
    """Return a value with marks for what is only known while the state machine runs."""
    if isinstance(value, list):
        return [_known(item, is_jsonata, variables) for item in value]
    if isinstance(value, dict):
        known: dict[str, object] = {}
        for name, inner in value.items():
            if not is_jsonata and name.endswith(".$") and isinstance(inner, str):
                known[name[:-2]] = of_json_path(inner, variables)
            else:
                known[name] = _known(inner, is_jsonata, variables)
        return known
    if is_jsonata and isinstance(value, str) and value.startswith("{%") and value.endswith("%}"):
        return of_jsonata(value, variables)
    return value


def _without_placeholders(value: dict[str, object], variables: DefinitionVariables) -> dict[str, object]:
    def inside(part: object) -> object:
        if isinstance(part, str):
            return PLACEHOLDER.sub(lambda match: variables.mark(f"${{{match[1]}}}", name=match[1]), part)
        if isinstance(part, list):
            return [inside(item) for item in part]
        if isinstance(part, dict):
            return {str(inside(name)): inside(inner) for name, inner in part.items()}
        return part

    return {str(inside(name)): inside(inner) for name, inner in value.items()}
