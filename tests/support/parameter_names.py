"""Names of parameters that depend on their contents alone: the same on every machine, in every run, and in every order.

pytest names a container by its place among the parameters, and bytes by what is in them, which may be the second in
which an archive was made. Workers that disagree about a name end the whole suite before a test runs.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import numbers
import re
import types
from collections.abc import Mapping, Set

LONGEST = 60
_NAMED_BY_PYTEST = (str, int, float, complex, bool, type(None), enum.Enum, re.Pattern, type, types.FunctionType)
ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")


class Unnamed(Exception):
    """A parameter that needs a name by hand."""


def name_of(value: object) -> str | None:
    """Return the name of a parameter, or None for one that pytest names by its contents.

    >>> name_of({"a": [1, None], "b": {"y", "x"}})
    "a: [1, None], b: {'x', 'y'}"
    """
    if isinstance(value, _NAMED_BY_PYTEST) or isinstance(getattr(value, "__name__", None), str):
        return None
    text = _text(value).encode("ascii", "backslashreplace").decode()
    if isinstance(value, (Mapping, Set, list, tuple)) and text not in ("()", "[]", "{}"):
        text = text[1:-1]
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}... {hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _text(value: object) -> str:
    if isinstance(value, str):
        return repr(value)
    if value is ...:
        return "..."
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_text(each)}" for key, each in value.items()) + "}"
    if isinstance(value, Set):
        return "{" + ", ".join(sorted(map(_text, value))) + "}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(_text, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, (enum.Enum, numbers.Number)):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kept = [each for each in dataclasses.fields(value) if getattr(value, each.name) != each.default]
        inside = (f"{each.name}={_text(getattr(value, each.name))}" for each in kept)
        return f"{type(value).__name__}({', '.join(inside)})"
    if isinstance(value, re.Pattern):
        return value.pattern if isinstance(value.pattern, str) else _text(value.pattern)
    if isinstance(value, _NAMED_BY_PYTEST):
        return value.__name__ if isinstance(value, (type, types.FunctionType)) else repr(value)
    if isinstance(getattr(value, "__name__", None), str):
        return value.__name__
    raise Unnamed(f"{type(value).__name__} has no name that depends on its contents alone")


def _key(key: object) -> str:
    return key if isinstance(key, str) else _text(key)
