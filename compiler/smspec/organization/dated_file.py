"""A file of facts about AWS at the top of a repository, that a command writes: dated, sorted, an entry a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from smspec.diagnostics import InvalidInput, Rule, placed
from smspec.diagnostics.locating import placed_at
from smspec.source import Path, Span
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import file_in

MALFORMED = Rule("SM752", "malformed prices or quotas file")

DATE = r"2[0-9]{3}-[0-9]{2}-[0-9]{2}"
REGION = r"[a-z]{2,5}(?:-[a-z]{1,16}){1,3}-[0-9]{1,2}"
_LARGEST = 8 << 20
_VERSION = 1

Fault = tuple[Path, str]
"""The path of an invalid value, and what is wrong with it."""


def read_dated_file(
    directory: str,
    name: str,
    boundary: Boundary,
    *,
    command: str,
    member: str,
    fault_of: Callable[[dict[str, object]], Fault | None],
) -> dict[str, Any]:
    """Return the ``member`` of a file in a directory itself; empty if there is no file.

    ``command`` writes the file, and ``fault_of`` returns the first fault in the member. Raise `InvalidInput`, with the
    position of the fault; OSError if the file is unreadable.
    """
    path = file_in(directory, name)
    if path is None:
        return {}
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
    except (ValueError, RecursionError) as error:
        fault = (), f"`{path}` is not valid JSON"
        # The only other ValueError: Python converts no integer of thousands of digits.
        raise _located(path, content, fault, help, is_number=type(error) is ValueError) from None
    entries = data.get(member) if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(entries, dict):
        raise _located(path, content, ((), f"{name} has no `{member}`"), help)
    if data.get("version") != _VERSION:
        what = f"`version` is not {_VERSION}, the version that this smspec reads"
        raise _located(path, content, (("version",), what), help)
    invalid = fault_of(entries)
    if invalid is not None:
        raise _located(path, content, invalid, help)
    return entries


def dated_text(member: str, entries: dict[str, object]) -> str:
    """Return the text of a file: reproducible, and a change of one entry changes one line."""
    return json.dumps({"version": _VERSION, member: entries}, indent=2, ensure_ascii=False) + "\n"


def is_match(pattern: str, value: object) -> bool:
    """Return whether a value is a string that a pattern matches as a whole."""
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise json.JSONDecodeError("a member twice", "", 0)
    return found


def _located(path: str, content: bytes, fault: Fault, help: str, *, is_number: bool = False) -> InvalidInput:
    """Return the fault at its line. A file that is not JSON has its own; ``is_number``: a number that is too long."""
    # Imported late: it takes longer than the standard library, and these files are seldom malformed.
    from smspec.service.json.encoding import decode_json_bytes
    from smspec.service.json.json_parser import read_json
    from smspec.service.json.limits import BEYOND_THE_LIMITS

    at, message = fault
    try:
        document = read_json(decode_json_bytes(path, content))
    except InvalidInput as rejected:
        if not is_number and all(each.code == BEYOND_THE_LIMITS.code for each in rejected.diagnostics):
            # Larger than a request may be: the fault has no position then.
            return InvalidInput([placed_at(Span(path, 1, 1, 1, 1), MALFORMED.at((), message, help=help))], ())
        return rejected
    return InvalidInput(placed([MALFORMED.at(at, message, help=help)], document), document.texts)
