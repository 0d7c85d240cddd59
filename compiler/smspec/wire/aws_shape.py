"""Check what AWS responds before a library parses it: JSON for the shape in the API model, XML for limits.

The model of an older botocore lacks members of a request: they are sent and shown, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any
from xml.parsers.expat import ExpatError, ParserCreate

from botocore.utils import parse_timestamp

from smspec.wire.fault import BadResponse

_INTEGERS = {"integer": 1 << 31, "long": 1 << 63}
_YEARS = range(2, 9999)
"""In every time zone Python has a time of these."""

_MOST_LEVELS = 32
_MOST_ELEMENTS = 100_000


def _is_time(value: object) -> bool:
    """Return whether a value is a time that Python has."""
    try:
        return not isinstance(value, bool) and parse_timestamp(value).year in _YEARS
    except (ValueError, TypeError, ArithmeticError, OSError, RuntimeError, AttributeError):
        return False


_SINGLE: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "blob": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "long": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, (int, float, str)) and not isinstance(value, bool),
    "double": lambda value: isinstance(value, (int, float, str)) and not isinstance(value, bool),
    "timestamp": _is_time,
}


def check_shape(value: object, shape: Any, name: str) -> None:
    """Raise `BadResponse` if a value, called ``name`` in messages, does not have a botocore shape.

    Members that the model does not know are ignored, and null is a missing member.
    """
    kind = shape.type_name
    if kind in _SINGLE:
        if not _SINGLE[kind](value):
            raise _other(name, kind)
        if kind in _INTEGERS and isinstance(value, int):
            # A count that the API never has below zero is not one of AWS.
            least = 0 if shape.metadata.get("min", -1) >= 0 else -_INTEGERS[kind]
            if not least <= value < _INTEGERS[kind]:
                raise BadResponse(f"{name[:120]} is {str(value)[:40]}, out of the range of the API")
    elif kind == "list":
        if not isinstance(value, list):
            raise _other(name, kind)
        for item in value:
            check_shape(item, shape.member, f"an item of {name}")
    else:
        if not isinstance(value, dict):
            raise _other(name, "object")
        for key, inner in value.items():
            inner_shape = shape.value if kind == "map" else shape.members.get(key)
            if inner is not None and inner_shape is not None and not getattr(shape, "is_document_type", False):
                check_shape(inner, inner_shape, f"`{key}`")


def _other(name: str, kind: str) -> BadResponse:
    return BadResponse(f"{name[:120]} is not of the type that the API declares: {kind}")


def check_xml(content: bytes) -> None:
    """Raise `BadResponse` unless a body is well-formed XML within limits, without a document type or its entities."""
    depth = elements = 0

    def start(_name: str, _attributes: object) -> None:
        nonlocal depth, elements
        depth += 1
        elements += 1
        if depth > _MOST_LEVELS or elements > _MOST_ELEMENTS:
            raise BadResponse("the response is XML beyond the limits")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def document_type(*_words: object) -> None:
        raise BadResponse("the response is XML with a document type")

    parser = ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = document_type
    try:
        parser.Parse(content, True)
    except (ExpatError, ValueError, LookupError):  # the encoding may be unknown
        raise BadResponse("the response is not valid XML") from None


def keep_newer_members(client: Any, *, sent: str, shown: str, named: Collection[str] | None = None) -> None:
    """Have a client send and show members that botocore's model lacks, of the operations ``sent`` and ``shown``.

    botocore rejects a request that has some, and leaves them out of a response. ``named``: the paths of those that it
    shows; None for all.
    """
    service = client.meta.service_model.service_id.hyphenize()

    def keep(params: dict[str, Any], model: Any, context: dict[str, Any], **_: object) -> None:
        known = _known(params, model.input_shape)
        if known != params:
            context["smspec_body"] = json.dumps(params).encode()
            params.clear()
            params.update(known)

    def restore(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
        params["body"] = context.get("smspec_body", params["body"])

    def complete(http_response: Any, parsed: dict[str, Any], **_: object) -> None:
        if http_response.status_code == 200:
            _complete(parsed, json.loads(http_response.content), named)

    client.meta.events.register(f"before-parameter-build.{service}.{sent}", keep)
    client.meta.events.register(f"before-call.{service}.{sent}", restore)
    client.meta.events.register(f"after-call.{service}.{shown}", complete)


def _known(value: Any, shape: Any) -> Any:
    """Return a value without the members that a shape does not have."""
    if shape.type_name == "structure" and isinstance(value, dict):
        return {name: _known(inner, shape.members[name]) for name, inner in value.items() if name in shape.members}
    if shape.type_name == "list" and isinstance(value, list):
        return [_known(item, shape.member) for item in value]
    return value


def _complete(parsed: Any, response: Any, named: Collection[str] | None, path: str = "") -> None:
    """Add the members of a response that the parser left out."""
    if isinstance(parsed, dict) and isinstance(response, dict):
        for name, value in response.items():
            inner = f"{path}.{name}".lstrip(".")
            if name in parsed:
                _complete(parsed[name], value, named, inner)
            elif value is not None and (named is None or inner in named):
                parsed[name] = value
    elif isinstance(parsed, list) and isinstance(response, list) and len(parsed) == len(response):
        for one, other in zip(parsed, response, strict=True):
            _complete(one, other, named, path)
