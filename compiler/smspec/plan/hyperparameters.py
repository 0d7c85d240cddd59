"""Encode a typed value as the string of a hyperparameter, so that a script decodes what the author wrote.

Scripts decode as SageMaker's toolkits do: as JSON if it is valid JSON, else as the string itself.
"""

from __future__ import annotations

import json
import math

from smspec.service.patterns import LINE_TERMINATORS
from smspec.spec.model import Hyperparameter, HyperparameterEncoding

_ESCAPED = str.maketrans({character: f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"})


def encoded(hyperparameter: Hyperparameter, encoding: HyperparameterEncoding) -> str:
    """Return the string that is sent."""
    value = hyperparameter.value
    if isinstance(value, str):
        if encoding == "raw" or (encoding == "json" and is_bare(value)):
            return value
        return _json(value)
    if isinstance(value, dict | list):
        return _json(value)
    if encoding == "raw" and hyperparameter.text:
        return hyperparameter.text
    return hyperparameter.text if _decodes_to(hyperparameter.text, value) else _json(value)


def is_bare(text: str) -> bool:
    """Return whether a string decodes as itself if sent unchanged, and is a single line, as the API requires."""
    if any(character in text for character in LINE_TERMINATORS):
        return False
    try:
        json.loads(text)
    except RecursionError:
        return False
    except ValueError:
        return True
    return False


def _decodes_to(text: str, value: object) -> bool:
    """Return whether a string is JSON for exactly this value: `1e-3` is, `.5`, `+5`, and `.inf` are not."""
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return type(decoded) is type(value) and (decoded == value or (_is_nan(decoded) and _is_nan(value)))


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _json(value: object) -> str:
    """Return JSON in one line. Letters of other scripts stay unescaped: the API limits the number of characters."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)
