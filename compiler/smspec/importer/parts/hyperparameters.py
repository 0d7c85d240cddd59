"""Import `hyperparameters` with their types, and the encoding that produces the strings of the request."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import get_args

from smspec.importer.imported_keys import take
from smspec.importer.nodes import bare, node, text
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.plan.draft import encoded
from smspec.source import Node, Scalar, to_data
from smspec.spec.keys import ROW
from smspec.spec.model import Hyperparameter, HyperparameterEncoding
from smspec.spec.yaml.scalars import meaning

_WORDS = {math.inf: ".inf", -math.inf: "-.inf"}


def keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import all hyperparameters, or none."""
    texts = take(rest, ROW["hyperparameters"])
    if not isinstance(texts, dict):
        return
    # `raw` can express every string, so the last encoding always fits.
    for encoding in get_args(HyperparameterEncoding):
        values = {name: _value(value, encoding) for name, value in texts.items()}
        if all(value is not None for value in values.values()):
            yield "hyperparameters", values
            if encoding != "json":
                yield "hyperparameter_encoding", encoding
            return


def _value(sent: str, encoding: HyperparameterEncoding) -> Node | None:
    """Return the value that is sent as this string, None if there is none."""
    return next((value for value in _candidates(sent, encoding) if _is_sent_as(value, sent, encoding)), None)


def _candidates(sent: str, encoding: HyperparameterEncoding) -> Iterator[Node]:
    """Yield possible values, the simplest first."""
    if encoding == "raw":
        if isinstance(meaning(sent), int | float):
            yield bare(sent)
        yield text(sent)
        return
    try:
        decoded = json.loads(sent)
    except (ValueError, RecursionError):
        yield text(sent)
        return
    if isinstance(decoded, str):
        # Quoted in the spec because it is quoted in the request: the script gets a string that looks like something
        # else.
        yield text(decoded)
    elif isinstance(decoded, bool | int | float):
        yield bare(sent)
        yield bare(_WORDS.get(decoded, ".nan") if isinstance(decoded, float) else sent)
    elif decoded and not _holds_null(decoded):
        yield node(decoded)


def _is_sent_as(value: Node, sent: str, encoding: HyperparameterEncoding) -> bool:
    if isinstance(value, Scalar):
        if value.value is None:
            return False
        parameter = Hyperparameter(name="", value=value.value, text=value.text, quoted=not value.plain)
    else:
        parameter = Hyperparameter(name="", value=to_data(value))
    return encoded(parameter, encoding) == sent


def _holds_null(value: object) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(_holds_null, inner))
