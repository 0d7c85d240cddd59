"""Parse JSON of a server, within the limits of `service.json_parser`, and check its members."""

from __future__ import annotations

import re
from typing import TypeVar

from smspec.diagnostics import InvalidInput
from smspec.service.json_parser import decode_json_bytes, read_json
from smspec.source import to_data
from smspec.wire.fault import BadResponse

MOST_BYTES = 8 << 20
"""A page of a log has 1 MB of text, and up to six times that with its escapes."""

_Kind = TypeVar("_Kind")

_CALLED: dict[type, str] = {dict: "an object", list: "a list", str: "a string", int: "an integer"}


def json_body(content: bytes) -> object:
    """Return the parsed body of a response. Raise `BadResponse` unless it is strict JSON within the limits."""
    try:
        return to_data(read_json(decode_json_bytes("response", content, MOST_BYTES), MOST_BYTES).root)
    except InvalidInput as rejected:
        first = rejected.diagnostics[0].message
        raise BadResponse(f"the response is not valid JSON: {first}") from None


def object_body(content: bytes) -> dict[str, object]:
    """Return the object in the body of a response. Raise `BadResponse`."""
    return typed(json_body(content), dict, "the response")


def typed(value: object, kind: type[_Kind], name: str) -> _Kind:
    """Return a value of the required type. Raise `BadResponse`, which calls it ``name``."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadResponse(f"{name} is not {_CALLED[kind]}")
    return value


def member(holder: object, name: str, kind: type[_Kind]) -> _Kind:
    """Return a member of an object. Raise `BadResponse` if it is missing, or has a different type."""
    members = typed(holder, dict, f"what holds `{name}`")
    if name not in members:
        raise BadResponse(f"`{name}` is missing in the response")
    return typed(members[name], kind, f"`{name}`")


def word(holder: object, name: str, pattern: str) -> str:
    """Return a member that matches a pattern. Raise `BadResponse`."""
    value = member(holder, name, str)
    if not re.fullmatch(pattern, value):
        raise BadResponse(f"`{name}` is `{value[:80]}`, which is not what it must be")
    return value
