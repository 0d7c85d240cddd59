"""Check XML of a server before a library parses it."""

from __future__ import annotations

from xml.parsers.expat import ExpatError, ParserCreate

from smspec.wire.fault import BadResponse

_MOST_LEVELS = 32
_MOST_ELEMENTS = 100_000


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
