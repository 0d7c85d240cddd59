"""State machines of Step Functions, their states that create a training job or tune one, and their expressions.

In the text of an expression a mark stands for what only an execution has. The states that `smspec render
--step-functions` makes of `hosts.any_of` are one job.
https://docs.aws.amazon.com/step-functions/latest/dg/intrinsic-functions.html and transforming-data.html there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from smspec.importer.definitions.tuning import tuned_job
from smspec.importer.definitions.variables import PLACEHOLDER, DefinitionVariables, FoundJob
from smspec.importer.imported import Imported, RequestNotFound, names
from smspec.importer.request_equality import differences
from smspec.service.shapes import structure
from smspec.source import Path, dotted
from smspec.source.frozen import replace

_RESOURCE = re.compile(
    r"(?i:arn:[^:]+:states:[^:]*:[^:]*:(?:aws-sdk:)?sagemaker:create(?P<kind>Training|HyperParameterTuning)Job)"
    r"(?:\.sync(?::[0-9])?)?"
)
_NAME_IN_JSONPATH = re.compile(r"States\.Format\('(?P<stem>[A-Za-z0-9-]+)-\{\}', \$\.run\.id\)")
_NAME_IN_JSONATA = re.compile(r"\{% '(?P<stem>[A-Za-z0-9-]+)-' & \$states\.input\.run\.id %\}")
_OF_A_TASK = ("Type", "Resource", "QueryLanguage")
_ARGUMENTS = ("Parameters", "Arguments")

_FORMAT = re.compile(r"\s*States\.Format\s*\((?P<arguments>.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*(?:'(?P<text>(?:[^'\\]|\\.)*)'|(?P<path>[^',()]+))\s*(?:,|\Z)""", re.DOTALL)
_PIECE = re.compile(
    r"""\s*(?:'(?P<one>(?:[^'\\]|\\.)*)'|"(?P<two>(?:[^"\\]|\\.)*)"|\$string\(\s*(?P<converted>[\w.$]+)\s*\)|(?P<path>[\w.$]+))
    \s*(?:&|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_LONGEST = 4_000

_NUMBERED = re.compile(r"(?P<job>(?P<name>.+)-[0-9a-f]{10})-a(?P<number>[1-9])")
_OWN = (
    ("ResourceConfig", "InstanceType"),
    ("ResourceConfig", "InstanceCount"),
    ("ResourceConfig", "VolumeSizeInGB"),
    ("EnableManagedSpotTraining",),
    ("StoppingCondition", "MaxWaitTimeInSeconds"),
)
"""The members that the keys of an alternative become."""


def detect_state_machine(data: dict[str, object]) -> bool:
    is_machine = _is_description(data) or isinstance(data.get("States"), dict)
    return is_machine or creates_a_job(data, DefinitionVariables())


def jobs_of_state_machine(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the states; what is known only while the state machine runs is a variable.

    The states that `smspec render --step-functions` makes of alternatives are one job.
    """
    definition, is_deployed = (_definition(data), True) if _is_description(data) else (data, False)
    found = jobs_of_states(definition, variables, is_deployed=is_deployed)
    chain = _alternatives(found) if len(found) > 1 else None
    return found if chain is None else [FoundJob("", "", lambda: chain)]


def _alternatives(found: list[FoundJob]) -> Imported | None:
    if not all(re.fullmatch("Train[1-9]", job.name) for job in found):
        return None
    return alternatives_of([job.imported() for job in found])


def _definition(data: dict[str, object]) -> object:
    try:
        return json.loads(str(data["definition"]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the state machine definition is not JSON") from fault


def _is_description(data: dict[str, object]) -> bool:
    """Return whether this is the response of DescribeStateMachine, which contains the state machine as a string."""
    return "stateMachineArn" in data and isinstance(data.get("definition"), str)


def alternatives_of(states: Sequence[Imported]) -> Imported | None:
    """Return the jobs of states, in their order, as one job with alternatives.

    None if smspec has not named them as alternatives of one job. Raise `RequestNotFound` if they differ in more than
    `hosts.any_of` expresses.
    """
    found = [_NUMBERED.fullmatch(str(each.request.get("TrainingJobName"))) for each in states]
    matches = [match for match in found if match is not None]
    numbers = [int(match["number"]) for match in matches]
    if numbers != list(range(1, len(states) + 1)) or len({match["name"] for match in matches}) != 1:
        return None
    first, *others = (
        {name: value for name, value in each.request.items() if name != "TrainingJobName"} for each in states
    )
    for number, other in enumerate(others, 2):
        for path in differences(first, other):
            if path not in _OWN:
                raise RequestNotFound(
                    f"alternatives 1 and {number} differ in `{dotted(path)}`, but those of `hosts.any_of` share it"
                )
    if "job_name" not in names(matches[0]["job"], "", first):
        # Otherwise the request has changed since smspec named it, and alternatives have no names of their own.
        first = {**first, "TrainingJobName": matches[0]["job"]}
    return replace(
        states[0],
        form=f"a Step Functions state machine with {len(states)} alternatives",
        request=first,
        alternatives=tuple(others),
        stem=matches[0]["name"],
        not_imported=tuple(dict.fromkeys(part for each in states for part in each.not_imported)),
    )


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


def of_json_path(expression: str, variables: DefinitionVariables) -> str:
    """Return the text of a member whose name ends in ``.$``: the literals of `States.Format` are known."""
    call = _FORMAT.fullmatch(expression) if len(expression) <= _LONGEST else None
    if call is not None:
        arguments = _arguments(call["arguments"])
        if arguments and arguments[0][0]:
            return _formatted(arguments, variables) or _path(expression, variables)
    return _path(expression, variables)


def of_jsonata(expression: str, variables: DefinitionVariables) -> str:
    """Return the text of a string between ``{%`` and ``%}``: of a concatenation, the literals are known."""
    inner = expression[2:-2].strip()
    found, at = "", 0
    while at < len(inner) <= _LONGEST:
        piece = _PIECE.match(inner, at)
        if piece is None or (piece.end() == len(inner) and piece[0].rstrip().endswith("&")):
            return _path(inner, variables)
        literal = piece["one"] if piece["one"] is not None else piece["two"]
        if literal is not None:
            found += _unescaped(literal)
        else:
            found += _path(piece["path"] or piece["converted"], variables)
        at = piece.end()
    return found if inner and len(inner) <= _LONGEST else _path(inner, variables)


def _path(expression: str, variables: DefinitionVariables) -> str:
    """Return the mark of a path, named after its last two steps: the first ones are usually the same."""
    words = re.findall(r"\w+", expression.replace("$states.input", ""))
    return variables.mark(expression, name="_".join(words[-2:]))


def _arguments(text: str) -> list[tuple[bool, str]]:
    """Return whether each argument is a literal, and its text; nothing if an argument is a call."""
    found, at = [], 0
    while at < len(text):
        argument = _ARGUMENT.match(text, at)
        if argument is None:
            return []
        is_literal = argument["text"] is not None
        found.append((is_literal, _unescaped(argument["text"]) if is_literal else argument["path"].strip()))
        at = argument.end()
    return found


def _formatted(arguments: list[tuple[bool, str]], variables: DefinitionVariables) -> str | None:
    pieces = arguments[0][1].split("{}")
    if len(pieces) != len(arguments):
        return None
    found = pieces[0]
    for (is_literal, text), piece in zip(arguments[1:], pieces[1:], strict=True):
        found += (text if is_literal else _path(text, variables)) + piece
    return found


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
