"""A state of a Step Functions state machine that creates a training job, alone or in its state machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from smspec.importer.imported import Imported, NotImported, RequestNotFound
from smspec.importer.sources.alternative_states import alternatives_of
from smspec.service.members import structure
from smspec.source import Path
from smspec.source.path import dotted

_RESOURCE = re.compile(
    r"arn:aws[a-z-]*:states:[^:]*:[^:]*:(?:aws-sdk:)?sagemaker:createTrainingJob(?:\.sync(?::[0-9])?)?"
)
_NAME_IN_JSONPATH = re.compile(r"States\.Format\('(?P<stem>[A-Za-z0-9-]+)-\{\}', \$\.run\.id\)")
_NAME_IN_JSONATA = re.compile(r"\{% '(?P<stem>[A-Za-z0-9-]+)-' & \$states\.input\.run\.id %\}")
_MOST_NAMED = 5
Known = Callable[[Path, object, "list[NotImported]"], bool]


def detect(data: dict[str, object]) -> bool:
    return _is_description(data) or isinstance(data.get("States"), dict) or any(True for _ in _states(data, ()))


def to_request(data: dict[str, object]) -> Imported:
    """Return the request of the only state that creates a job, or the alternatives of one job.

    What is only known while the state machine runs is lost.
    """
    found = list(_states(_definition(data) if _is_description(data) else data, ()))
    if not found:
        raise RequestNotFound("no state of the state machine creates a training job")
    if len(found) == 1:
        return _state_job(*found[0])
    chain = alternatives_of([_state_job(*each) for each in found if _language(each[1])])
    if chain is not None:
        return chain
    names = ", ".join(f"`{dotted(path)}`" for path, _ in found[:_MOST_NAMED])
    raise RequestNotFound(f"{len(found)} states create a training job ({names}); pass a file with one of them")


def _state_job(path: Path, state: dict[str, object]) -> Imported:
    not_imported: list[NotImported] = []
    key = _language(state)
    here = (*path, key)
    given = structure(state, key)
    if not given:
        raise RequestNotFound(f"the state `{dotted(path)}` has no `Parameters` or `Arguments`")
    given, stem = _with_stem(given)
    request = _fixed(given, here, _ARGUMENTS[key], not_imported)
    return Imported(
        form="a Step Functions state",
        request={**structure(request), **stem},
        not_imported=tuple(not_imported),
        left_out=(
            *(name for name in state if name not in (key, "Type", "Resource")),
            *(("the rest of the state machine",) if len(path) > 1 else ()),
        ),
        stem=str(path[-1]) if path else "",
    )


def _language(state: dict[str, object]) -> str:
    """Return the member of a state with its request; empty if it has none."""
    return next((name for name in _ARGUMENTS if name in state), "")


def _with_stem(given: dict[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return a request without a name that `smspec render --step-functions` has written, and that of the job."""
    for member, form in (("TrainingJobName.$", _NAME_IN_JSONPATH), ("TrainingJobName", _NAME_IN_JSONATA)):
        written = given.get(member)
        found = form.fullmatch(written) if isinstance(written, str) else None
        if found is not None:
            rest = {name: value for name, value in given.items() if name != member}
            return rest, {"TrainingJobName": found["stem"]}
    return given, {}


def _is_description(data: dict[str, object]) -> bool:
    """Return whether this is the response of DescribeStateMachine, which contains the state machine as a string."""
    return "stateMachineArn" in data and isinstance(data.get("definition"), str)


def _definition(data: dict[str, object]) -> object:
    try:
        return json.loads(str(data["definition"]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the state machine definition is not JSON") from fault


def _states(value: object, path: Path) -> Iterator[tuple[Path, dict[str, object]]]:
    """Yield every state that creates a training job, also those inside of parallel branches and maps."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _states(item, (*path, index))
    elif isinstance(value, dict):
        if isinstance(value.get("Resource"), str) and _RESOURCE.fullmatch(value["Resource"]):
            yield path, structure(value)
        else:
            for name, inner in value.items():
                if name not in _ARGUMENTS:
                    yield from _states(inner, (*path, name))


def _fixed(value: object, path: Path, is_known: Known, not_imported: list[NotImported]) -> object:
    """Return the part of a value that is known before the state machine runs; record the rest."""
    if isinstance(value, dict):
        entries = [((*path, name), name, inner) for name, inner in value.items()]
        return {
            name: _fixed(inner, at, is_known, not_imported)
            for at, name, inner in entries
            if is_known(at, inner, not_imported)
        }
    if isinstance(value, list):
        items = [((*path, index), item) for index, item in enumerate(value)]
        return [_fixed(item, at, is_known, not_imported) for at, item in items if is_known(at, item, not_imported)]
    return value


def _known_in_jsonpath(path: Path, _: object, not_imported: list[NotImported]) -> bool:
    if not str(path[-1]).endswith(".$"):
        return True
    not_imported.append(NotImported(path, "the state machine sets it at run time from its input or context"))
    return False


def _known_in_jsonata(path: Path, value: object, not_imported: list[NotImported]) -> bool:
    if not (isinstance(value, str) and value.startswith("{%") and value.endswith("%}")):
        return True
    not_imported.append(NotImported(path, "a JSONata expression, evaluated when the state machine runs"))
    return False


_ARGUMENTS: dict[str, Known] = {"Parameters": _known_in_jsonpath, "Arguments": _known_in_jsonata}
"""The member of a state with its request, and which values are known: the two languages have different expressions."""
