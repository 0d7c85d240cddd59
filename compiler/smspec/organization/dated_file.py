"""A file of facts about AWS at the top of a repository, that a command writes: dated, sorted, an entry a line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable

from smspec.diagnostics import InvalidInput, Rule, placed
from smspec.diagnostics.locating import placed_at
from smspec.source import Path, Span
from smspec.workspace.boundary import Boundary, FileNotRead

MALFORMED = Rule("SM752", "malformed prices or quotas file")

DATE = r"2[0-9]{3}-[0-9]{2}-[0-9]{2}"
REGION = r"[a-z]{2,5}(?:-[a-z]{1,16}){1,3}-[0-9]{1,2}"
_LARGEST = 8 << 20

Fault = tuple[Path, str]
"""The path of an invalid value, and what is wrong with it."""


def dated_file_in(directory: str, name: str, boundary: Boundary) -> str | None:
    """Return the path of a file in a directory itself, relative to the current one; or None."""
    path = os.path.join(directory, name)
    return os.path.relpath(path) if os.path.lexists(path) and not boundary.is_directory(path) else None


def read_dated_file(
    path: str, boundary: Boundary, command: str, fault_of: Callable[[object], Fault | None]
) -> dict[str, object]:
    """Return the content of a file in which ``fault_of`` finds no fault.

    ``command`` writes the file. Raise `InvalidInput`, with the position of the fault; OSError if it is unreadable.
    """
    help = f"restore the committed file, or remove it and run `{command}`"
    try:
        content = boundary.read_named(path, _LARGEST)
    except FileNotRead as unread:
        raise InvalidInput([placed_at(Span(path, 1, 1, 1, 1), MALFORMED.at((), str(unread), help=help))], ()) from None
    if len(content) > _LARGEST:
        finding = MALFORMED.at((), f"`{path}` has more than {_LARGEST >> 20} MiB", help=help)
        raise InvalidInput([placed_at(Span(path, 1, 1, 1, 1), finding)], ())
    try:
        data = json.loads(content, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError):
        raise _located(path, content, ((), f"`{path}` is not valid JSON"), help) from None
    fault = fault_of(data)
    if fault is not None or not isinstance(data, dict):
        raise _located(path, content, fault or ((), f"`{path}` is not an object"), help)
    return data


def dated_text(content: dict[str, object]) -> str:
    """Return the text of a file: reproducible, and a change of one entry changes one line."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def is_match(pattern: str, value: object) -> bool:
    """Return whether a value is a string that a pattern matches as a whole."""
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member twice")
    return found


def _located(path: str, content: bytes, fault: Fault, help: str) -> InvalidInput:
    """Return the fault at its line. A file that is not JSON has faults of its own."""
    # Imported late: it takes longer than the standard library, and these files are seldom malformed.
    from smspec.service.json.encoding import decode_json_bytes
    from smspec.service.json.json_parser import read_json

    try:
        document = read_json(decode_json_bytes(path, content))
    except InvalidInput as rejected:
        return rejected
    at, message = fault
    return InvalidInput(placed([MALFORMED.at(at, message, help=help)], document), document.texts)
