"""Files that are job specs: read from the command line, and recognized by the top-level key ``smspec``."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, BinaryIO

from smspec.source.real_file import read_bounded
from smspec.spec.layers.variables import OptionError
from smspec.spec.yaml.events import MAX_BYTES, MAX_DEPTH
from smspec.workspace.boundary import Boundary, OutOfBounds
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.path_targets import is_file, is_missing, not_found

if TYPE_CHECKING:
    import yaml

STANDARD_INPUT = "-"

USUAL_SPEC = "job.yaml"

_KEY = "smspec"
_MERGE = "<<"

# Block style, at the start of a line: it is a spec even if there is a syntax error further up.
_MARK = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?smspec["']?[ \t]*:""", re.MULTILINE)

# As a quoted key may be written, with escaped letters and line breaks. What goes on after it is a different word.
_FOLDED = rb"(?:\\\s\s*)*"

_LETTERS = (rb"(?:%c|\\(?:x|u00|U000000)(?i:%02x))" % (letter, letter) for letter in _KEY.encode())
_WORD = re.compile(_FOLDED.join(_LETTERS) + _FOLDED + rb"(?![\"']?[ \t]*[\w./\\-])")


def spec_content(path: str, most: int, boundary: Boundary) -> bytes:
    """Return the content of a job spec, as `content_of` does, with a hint for a missing path or a directory.

    Raise `OutOfBounds` for a link that leads out of the boundary.
    """
    try:
        return _content(path, most, "a job spec", boundary)
    except OptionError as error:
        raise OptionError(f"{error}{_way_out(path)}") from None


def content_of(path: str, most: int, kind: str, *, dash_is_input: bool = False) -> bytes:
    """Return the content of a file, but no more than one byte above ``most``. ``kind``: the expected file, `a request`.

    ``dash_is_input``: `-` means standard input. Raise `OptionError` if the path leads to no file, or out of the
    repository by a link, OSError if the disk fails.
    """
    if dash_is_input and path == STANDARD_INPUT:
        return _read(0, most)
    try:
        return _content(path, most, kind, boundary_of(os.path.dirname(path)))
    except OutOfBounds as fault:
        raise OptionError(f"{fault}: it is a link; pass the file it points to") from None


def _content(path: str, most: int, kind: str, boundary: Boundary) -> bytes:
    try:
        if boundary.is_file(path):
            return boundary.read(path, most)
        # No repository can contain a file of the system itself.
        if not boundary.contains(path) and not os.path.abspath(path).startswith(("/dev/", "/proc/")):
            raise OutOfBounds(path)
        # The command line may name a pipe, or the `<(command)` of a shell.
        return _read(path, most)
    except IsADirectoryError:
        raise OptionError(f"`{path}` is a directory, not {kind}") from None
    except (OSError, ValueError) as fault:
        if is_missing(fault):
            raise OptionError(not_found(path, path)) from None
        if isinstance(fault, OSError):
            fault.filename = fault.filename or path
        raise


def _read(file: str | int, most: int) -> bytes:
    with open(file, "rb", buffering=0, closefd=file != 0) as stream:
        return read_bounded(stream, most)


def _way_out(path: str) -> str:
    if path == USUAL_SPEC:
        return "; pass a job spec, or create one with `smspec init`"
    if path == STANDARD_INPUT:
        return "; pass a file, because paths in a job spec are relative to its directory"
    inside = os.path.join(path, USUAL_SPEC)
    return f"; did you mean `{inside}`?" if is_file(inside) else ""


def is_meant_as_spec(content: bytes) -> bool:
    """Return whether a YAML text is a spec or a base spec, possibly an invalid one, such as one in UTF-16."""
    if b"\0" in content:
        content = content.replace(b"\0", b"").lstrip(b"\xff\xfe")
    return _MARK.search(content) is not None or has_spec_key(content)


def is_spec_file(file: BinaryIO) -> bool:
    """Return whether an open file is a spec or a base spec, by its key, and small enough to be one."""
    content = file.read(MAX_BYTES + 1)
    return len(content) <= MAX_BYTES and has_spec_key(content)


def has_spec_key(content: bytes) -> bool:
    """Return whether a document of a YAML text has the key; what comes before a syntax error counts.

    Text that is nested deeper than a spec may be is not a spec; its depth would also make the parser slow.
    """
    if _WORD.search(content) is None:
        return False
    import yaml  # imported late: most of these files do not contain the word

    from smspec.spec.yaml.events import PARSER

    depth, is_key, in_mapping, has_merge = 0, False, False, False
    anchored: dict[str, str] = {}
    try:
        for event in yaml.parse(content, Loader=PARSER):
            if isinstance(event, yaml.ScalarEvent) and event.anchor:
                anchored[event.anchor] = event.value
            if isinstance(event, yaml.ScalarEvent | yaml.AliasEvent) and depth == 1 and in_mapping and is_key:
                key = event.value if isinstance(event, yaml.ScalarEvent) else anchored.get(event.anchor or "")
                if key == _KEY:
                    return True
                has_merge |= key == _MERGE
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.DocumentStartEvent):
                depth = 0
            is_one_node = isinstance(event, yaml.ScalarEvent | yaml.AliasEvent | yaml.CollectionEndEvent)
            if depth == 1 and is_one_node:  # a collection counts once, at its end
                is_key = not is_key
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth == 1:
                    in_mapping, is_key = isinstance(event, yaml.MappingStartEvent), True
                elif depth > MAX_DEPTH:
                    return False
        return has_merge and any(_merges_key(node) for node in yaml.compose_all(content, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, ValueError):
        return False


def _merges_key(root: yaml.Node | None) -> bool:
    """Return whether a document gets the key from a merge: a spec that no search finds would be built unseen."""
    import yaml  # imported late, as above

    waiting, known = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in known:
            continue
        known.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == _KEY:
                    return True
                if key.value == _MERGE:
                    waiting.append(value)
    return False
