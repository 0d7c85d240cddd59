"""The built-in algorithm that a request certainly runs, and its channels and hyperparameters against AWS's guide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Literal

from smspec.diagnostics.suggestions import nearest
from smspec.service.facts import accounts
from smspec.service.facts.algorithms import Algorithm, NumberRange, algorithm
from smspec.service.facts.images import images_of
from smspec.service.provided_images import is_built_in_algorithm
from smspec.service.request import Request, RequestedChannel
from smspec.service.shapes import structure
from smspec.source.frozen import dataclass

_XGBOOST, _SCRIPT_OR_XGBOOST = "xgboost", "sagemaker-xgboost"
_SCRIPTS = ("autogluon", "catboost", "lightgbm", "tabtransformer")
_SCRIPT_OF_AWS = rf'"?s3://jumpstart-cache-prod-[^/]+/source-directory-tarballs/(?=.*?({"|".join(_SCRIPTS)})).*"?'
_ANNOTATION = "_annotation"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfRange:
    """A value outside of one range or of both. ``limit`` is the range that it violates, in words."""

    name: str
    value: str
    outside: Literal["both", "one"]
    limit: str


def script_of_aws(request: Request) -> str | None:
    """Return the name of the algorithm whose script an image of a framework runs, from the bucket of AWS; else None."""
    directory = structure(request.payload, "HyperParameters").get("sagemaker_submit_directory")
    found = re.fullmatch(_SCRIPT_OF_AWS, directory) if isinstance(directory, str) else None
    return found[1] if found else None


def built_in_algorithm(request: Request) -> Algorithm | None:
    """Return the facts about the algorithm; None if the container runs anything else.

    ``sagemaker-xgboost`` is the algorithm if the request contains no script. The newer algorithms are scripts of AWS.
    """
    image = request.image
    script = script_of_aws(request)
    if script is not None:
        return algorithm(script)
    if image is None or _starts_something(request):
        return None
    if is_built_in_algorithm(image):
        return algorithm(image.repository)
    if image.repository == _SCRIPT_OR_XGBOOST:
        owners = accounts.accounts(frozenset(listed.column for listed in images_of(image.repository)))
        return algorithm(_XGBOOST) if image.account in owners else None
    return None


def _starts_something(request: Request) -> bool:
    """Return whether the request starts a script or a command in the container."""
    hyperparameters = request.payload.get("HyperParameters")
    members = ("ContainerEntrypoint", "ContainerArguments")
    return (isinstance(hyperparameters, dict) and "sagemaker_program" in hyperparameters) or any(
        member in request.algorithm for member in members
    )


def read_hyperparameters(request: Request) -> Iterator[tuple[str, object]]:
    """Yield the hyperparameters as the algorithm reads them: a script gets the value of a JSON string."""
    is_script = script_of_aws(request) is not None
    for name, value in structure(request.payload, "HyperParameters").items():
        yield name, value.removeprefix('"').removesuffix('"') if is_script and isinstance(value, str) else value


def missing_channels(request: Request, algorithm: Algorithm) -> list[str]:
    """Return the required channels that a request lacks; an augmented manifest contains annotations."""
    names = {channel.name for channel in request.channels}
    is_augmented = any(channel.s3_data_type == "AugmentedManifestFile" for channel in request.channels)
    return [
        name
        for name in algorithm.required_channels
        if name not in names and not (is_augmented and name.endswith(_ANNOTATION))
    ]


def meant_channels(request: Request, algorithm: Algorithm) -> list[tuple[RequestedChannel, str]]:
    """Return the channels with unknown names, and the name that each probably means; each name once."""
    free = [name for name in algorithm.channels if name not in {channel.name for channel in request.channels}]
    meant = []
    for channel in request.channels:
        if channel.name in algorithm.channels:
            continue
        name = _meant(channel.name, free)
        if name is not None:
            free.remove(name)
            meant.append((channel, name))
    return meant


def _meant(written: str, known: list[str]) -> str | None:
    """Return the known name that is similar, or that begins or continues the one in the request."""
    similar = nearest(written, known)
    if similar is not None:
        return similar
    word = written.lower()
    begun = [name for name in known if word.startswith(name) or (len(word) >= 3 and name.startswith(word))]
    return max(begun, key=len) if begun else None


def out_of_range(request: Request, algorithm: Algorithm) -> Iterator[OutOfRange]:
    """Yield the numbers that a source excludes. Any row of a name allows what it allows: they are for several modes."""
    for name, value in read_hyperparameters(request):
        rows = [row for row in algorithm.hyperparameters if row.name == name]
        number = _number(value)
        if number is None or any(row.kind not in ("int", "float") for row in rows):
            continue
        outside = [
            ranges[0]
            for ranges in ([row.guide for row in rows], [row.sdk for row in rows])
            if ranges and not any(each.contains(number) for each in ranges)
        ]
        if outside:
            yield OutOfRange(
                name=name,
                value=str(value),
                outside="both" if len(outside) > 1 else "one",
                limit=_limit(outside[0], number),
            )


def _limit(excluding: NumberRange, number: float) -> str:
    """Return the bound that a number violates."""
    if not NumberRange(minimum=excluding.minimum, maximum="").contains(number):
        low = excluding.minimum
        return f"above {low[1:]}" if low.startswith(">") else f"at least {low}"
    high = excluding.maximum
    return f"below {high[1:]}" if high.startswith("<") else f"at most {high}"


def _number(value: object) -> float | None:
    """Return the number that an algorithm reads; None for words, lists, and what is no number."""
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) else None
