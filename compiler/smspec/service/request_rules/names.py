"""Tags, environment variables, and experiments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, member, repeated, structure
from smspec.service.request import Request
from smspec.source import Path
from smspec.source.memo import ByIdentity

HYPERPARAMETER_WITHOUT_A_NAME = Rule("SM485", "hyperparameter without a name", evidence="inferred")


def hyperparameter_without_a_name(request: Request) -> Iterator[Finding]:
    """Reject a hyperparameter whose name is empty: as an argument it would be `--`, as a variable `SM_HP_`.

    The API accepts an empty name, but no script can read it.
    """
    if "" in structure(request.payload, "HyperParameters"):
        word = request.word("HyperParameters", "hyperparameters")
        yield HYPERPARAMETER_WITHOUT_A_NAME.at(
            ("HyperParameters", ""),
            f"`{word}` contains an empty name; the script would get the argument `--`",
            help="add the name, or remove the entry",
            on="key",
        )


NUL_IN_THE_REQUEST = Rule("SM486", "null character in the request", evidence="inferred")

_PLAIN_MEMBERS: ByIdentity[bool] = ByIdentity()

_BY_JSON = "HyperParameters"
"""They reach the container in a JSON file, which can contain a NUL; SM320 checks those that become arguments."""


def nul_in_the_request(request: Request) -> Iterator[Finding]:
    """Reject a NUL or a surrogate in any string that the container gets as a variable, an argument, or a path.

    Variables, arguments, and paths end at a NUL: the kernel and every file system reject one.
    """
    for name, value in request.payload.items():
        # Most members contain neither, and jobs share many.
        if name != _BY_JSON and not _PLAIN_MEMBERS.of("", value, partial(_is_plain, value)):
            yield from _characters(value, (name,))


def _is_plain(value: object) -> bool:
    """Return whether one search in all strings of a member shows that there is nothing to report."""
    texts: list[str] = []
    _collect(value, texts)
    together = "".join(texts)
    return together.isascii() and "\0" not in together


def _collect(value: object, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _collect(part, texts)


def _characters(value: object, path: Path) -> Iterator[Finding]:
    if isinstance(value, str):
        if "\0" in value or not (value.isascii() or re.search("[\ud800-\udfff]", value) is None):
            yield NUL_IN_THE_REQUEST.at(
                path,
                f"{HERE} contains " + ("a null character" if "\0" in value else "an unpaired surrogate"),
                help="remove it, or encode the value, for example as base64",
            )
    elif isinstance(value, dict | list):
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _characters(part, (*path, step))


DUPLICATE_TAG = Rule("SM429", "duplicate tag", evidence="api-doc")


def duplicate_tag(request: Request) -> Iterator[Finding]:
    """Reject two tags with one key.

    A tag has one value.
    """
    for index, key in repeated(items(request.payload, "Tags"), "Key"):
        yield DUPLICATE_TAG.at(("Tags", index, "Key"), f"duplicate tag `{shown(key)}`", help="remove one of them")


RESERVED_TAG = Rule("SM476", "reserved tag", evidence="inferred")


def reserved_tag(request: Request) -> Iterator[Finding]:
    """Reject a tag whose key starts with aws:.

    Tags that start with aws: are reserved for AWS.
    """
    for index, tag in enumerate(items(request.payload, "Tags")):
        key = member(tag, "Key")
        if isinstance(key, str) and key.lower().startswith("aws:"):
            yield RESERVED_TAG.at(
                ("Tags", index, "Key"),
                f"tag `{shown(key)}` begins with `aws:`, which AWS reserves",
                help="use a different prefix",
            )


RUN_WITHOUT_AN_EXPERIMENT = Rule("SM369", "run without an experiment", "warning", evidence="inferred")


def run_without_an_experiment(request: Request) -> Iterator[Finding]:
    """Warn about RunName without ExperimentName.

    A run belongs to an experiment.
    """
    experiment = structure(request.payload, "ExperimentConfig")
    if "RunName" in experiment and "ExperimentName" not in experiment:
        yield RUN_WITHOUT_AN_EXPERIMENT.at(
            ("ExperimentConfig", "ExperimentName"),
            "`RunName` has no effect without `ExperimentName`",
            help="add `ExperimentName`",
            on="key",
        )


RESERVED_ENVIRONMENT_VARIABLE = Rule("SM370", "reserved environment variable", "warning", evidence="devguide")

_SET_BY_SAGEMAKER = ("TRAINING_JOB_NAME", "TRAINING_JOB_ARN", "AWS_REGION")


def reserved_environment_variable(request: Request) -> Iterator[Finding]:
    """Warn about environment variables that SageMaker or the toolkit in the container sets.

    SageMaker sets some variables for every job.
    """
    for name in structure(request.payload, "Environment"):
        if name in _SET_BY_SAGEMAKER or name.startswith("SM_"):
            yield RESERVED_ENVIRONMENT_VARIABLE.at(
                ("Environment", name),
                f"`{request.word('Environment', 'environment')}.{shown(name)}` might be overwritten: "
                "SageMaker sets it in the container",
                help="rename the variable",
                on="key",
            )


RULES = {
    hyperparameter_without_a_name: ("HyperParameters",),
    nul_in_the_request: (),
    duplicate_tag: ("Tags",),
    reserved_tag: ("Tags",),
    run_without_an_experiment: ("ExperimentConfig",),
    reserved_environment_variable: ("Environment",),
}
