"""The hyperparameters of built-in algorithms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.diagnostics.suggestions import nearest, spelling_fix
from smspec.service.built_in_algorithm import (
    OutOfRange,
    built_in_algorithm,
    out_of_range,
    read_hyperparameters,
    script_of_aws,
)
from smspec.service.facts import instance
from smspec.service.facts.algorithms import AlgorithmMode, algorithm_modes, as_of
from smspec.service.patterns import shown
from smspec.service.request import Request
from smspec.service.shapes import items, structure
from smspec.source import Path

DIFFERENT_MODE = Rule("SM499", "setting of a different mode", "warning", evidence="devguide")

_MODE = "mode"


def different_mode(request: Request) -> Iterator[Finding]:
    """Warn about what the guide lists for other modes only.

    BlazingText has modes, each with its own hyperparameters, channels, and hosts.
    """
    algorithm = built_in_algorithm(request)
    modes = () if algorithm is None else algorithm_modes(algorithm.name)
    passed = structure(request.payload, "HyperParameters")
    chosen = next((mode for mode in modes if mode.name == passed.get(_MODE)), None)
    if chosen is None:
        return
    word = request.word("HyperParameters", "hyperparameters")
    for name in passed:
        usual = [mode.name for mode in modes if name in mode.hyperparameters]
        if usual and name not in chosen.hyperparameters:
            yield _of_other_modes(("HyperParameters", name), f"{word}.{shown(name)}", chosen, usual, on="key")
    for channel in request.channels:
        usual = [mode.name for mode in modes if channel.name in mode.channels]
        if usual and channel.name not in chosen.channels:
            path = (*channel.path, "ChannelName")
            yield _of_other_modes(path, f"{request.word('InputDataConfig', 'channels')}.{channel.name}", chosen, usual)
    yield from _of_hosts(request, chosen, modes)


def _of_hosts(request: Request, chosen: AlgorithmMode, modes: tuple[AlgorithmMode, ...]) -> Iterator[Finding]:
    count = request.host_count
    if count is not None and count > 1 and chosen.hosts == "one":
        is_grouped = bool(items(request.payload, "ResourceConfig", "InstanceGroups"))
        key, name = ("InstanceGroups", "hosts.groups") if is_grouped else ("InstanceCount", "hosts.count")
        usual = [mode.name for mode in modes if mode.hosts == "several"]
        yield _of_other_modes(("ResourceConfig", key), f"{request.word(key, name)}: {count:,}", chosen, usual)
    kinds = [(path, kind, instance(kind)) for path, kind in request.instance_types]
    if "gpu" not in chosen.devices and kinds and all(facts is not None and facts.gpus for _, _, facts in kinds):
        yield DIFFERENT_MODE.at(
            kinds[0][0],
            f"{HERE}: mode `{chosen.name}` is not listed for GPUs {as_of()}",
            help="use a type without GPUs, such as `ml.c5.xlarge`",
        )


def _of_other_modes(
    path: Path, what: str, chosen: AlgorithmMode, usual: list[str], *, on: Literal["key", "value"] = "value"
) -> Finding:
    listed = " or ".join(f"`{name}`" for name in usual[:2])
    return DIFFERENT_MODE.at(
        path,
        f"`{what}` is not listed for mode `{chosen.name}` {as_of()}",
        help=f"remove it, or set `mode` to {listed}",
        on=on,
    )


HYPERPARAMETER_OUT_OF_RANGE = Rule("SM498", "hyperparameter out of range", evidence="devguide")


def hyperparameter_out_of_range(request: Request) -> Iterator[Finding]:
    """Reject a number that is outside of the range of the guide and of that of the SDK.

    A built-in algorithm checks the ranges of its hyperparameters.
    """
    for algorithm, each in _outside(request, "both"):
        yield HYPERPARAMETER_OUT_OF_RANGE.at(
            ("HyperParameters", each.name),
            f"{HERE} is {shown(each.value)}; `{algorithm}` requires {each.limit}",
            help="change the value",
        )


def _outside(request: Request, which: Literal["both", "one"]) -> Iterator[tuple[str, OutOfRange]]:
    """Yield the name of the algorithm with each number that is outside of both documented ranges, or of only one."""
    algorithm = built_in_algorithm(request)
    if algorithm is not None:
        yield from ((algorithm.name, each) for each in out_of_range(request, algorithm) if each.outside == which)


HYPERPARAMETER_OUTSIDE_A_DOCUMENTED_RANGE = Rule(
    "SM399", "hyperparameter outside a documented range", "warning", evidence="devguide"
)


def hyperparameter_outside_a_documented_range(request: Request) -> Iterator[Finding]:
    """Warn about a number that only one of the two sources excludes.

    The guide and the SDK disagree on some ranges of hyperparameters.
    """
    for algorithm, each in _outside(request, "one"):
        yield HYPERPARAMETER_OUTSIDE_A_DOCUMENTED_RANGE.at(
            ("HyperParameters", each.name),
            f"{HERE} is {shown(each.value)}; documented for `{algorithm}`: {each.limit}, {as_of()}",
            help="change the value, or check it in the guide",
        )


MISSING_HYPERPARAMETER = Rule(
    "SM497", "missing hyperparameter of a built-in algorithm", evidence="devguide", needs_every_layer=True
)


def missing_hyperparameter(request: Request) -> Iterator[Finding]:
    """Reject a request without a hyperparameter that the guide lists as required without conditions.

    A built-in algorithm fails without the hyperparameters that it requires.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    passed = structure(request.payload, "HyperParameters")
    required = dict.fromkeys(row.name for row in algorithm.hyperparameters if row.is_required)
    for name in required:
        if name not in passed:
            word = request.word("HyperParameters", "hyperparameters")
            yield MISSING_HYPERPARAMETER.at(
                ("HyperParameters", name),
                f"`{word}.{name}` is not set; `{algorithm.name}` requires it",
                help=f"add `{name}` to `{word}`",
                on="key",
            )


MISSPELLED_HYPERPARAMETER = Rule(
    "SM414", "misspelled hyperparameter of a built-in algorithm", "warning", evidence="devguide", needs_every_layer=True
)

# Algorithms accept more names than the guide lists; SageMaker's own begin so.
_INTERNAL = ("_", "sagemaker_")


def misspelled_hyperparameter(request: Request) -> Iterator[Finding]:
    """Warn about an unknown name only if it is near a known one that is not set: unlisted names can work.

    A built-in algorithm rejects or ignores a hyperparameter whose name it does not know.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    passed = structure(request.payload, "HyperParameters")
    known = {row.name for row in algorithm.hyperparameters}
    free = sorted(known - passed.keys())
    for name in passed:
        near = None if name in known or name.startswith(_INTERNAL) else nearest(name, free)
        if near is not None:
            word = request.word("HyperParameters", "hyperparameters")
            yield MISSPELLED_HYPERPARAMETER.at(
                ("HyperParameters", name),
                f"`{word}.{shown(name)}` is not documented for `{algorithm.name}`, {as_of()}",
                label=f"did you mean `{near}`?",
                on="key",
                fix=spelling_fix(name, free),
            )


MISSPELLED_VALUE = Rule("SM417", "misspelled value of a hyperparameter", "warning", evidence="devguide")

_WORD = r"[A-Za-z][A-Za-z0-9_.+-]*"


def misspelled_value(request: Request) -> Iterator[Finding]:
    """Warn about a word that is near a documented one; an algorithm may accept more words than the guide lists.

    Some hyperparameters of built-in algorithms accept only certain words.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    for name, value in read_hyperparameters(request):
        rows = [row for row in algorithm.hyperparameters if row.name == name]
        if not rows or any(row.kind != "enum" for row in rows) or not isinstance(value, str):
            continue
        words = [word for row in rows for word in row.words]
        if re.fullmatch(_WORD, value) is None or value.lower() in {word.lower() for word in words}:
            continue
        near = nearest(value, words)
        if near is not None:
            yield MISSPELLED_VALUE.at(
                ("HyperParameters", name),
                f"{HERE}: `{algorithm.name}` might not accept `{shown(value)}`",
                label=f"did you mean `{near}`?",
                fix=spelling_fix(value, words),
                notes=(Note(f"the developer guide does not list it, {as_of()}"),),
            )


QUOTED_VALUE = Rule("SM415", "quoted value of a hyperparameter", "warning", evidence="third-party")


def quoted_value(request: Request) -> Iterator[Finding]:
    """Warn about JSON strings for a built-in algorithm, once: they have one cause.

    Built-in algorithms read hyperparameters as they are sent, quotes included.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None or script_of_aws(request) is not None:
        return
    for name, value in structure(request.payload, "HyperParameters").items():
        if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
            yield QUOTED_VALUE.at(
                ("HyperParameters", name),
                f"{HERE} is sent with quotes, which `{algorithm.name}` does not remove",
                help=request.word(
                    "remove the quotes in the value", "remove `hyperparameter_encoding: json_strings`, or the quotes"
                ),
            )
            return


RULES = {
    different_mode: (),
    hyperparameter_out_of_range: (),
    hyperparameter_outside_a_documented_range: (),
    missing_hyperparameter: (),
    misspelled_hyperparameter: (),
    misspelled_value: (),
    quoted_value: (),
}
