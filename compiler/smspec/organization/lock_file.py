"""``smspec.lock``: one file for a repository, the nearest one in the directory of a spec or above."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from smspec.diagnostics import Finding, InvalidInput, Rule, placed
from smspec.diagnostics.locating import placed_at
from smspec.service.image_reference import DIGEST, parsed_reference
from smspec.source import Document, Mapping, Path, Scalar, Span
from smspec.spec.lock import NAME, VERSION, Lock
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.parent_directories import repository_top

MALFORMED_LOCK = Rule("SM723", "malformed lockfile")

_HELP = "restore the committed file, or remove it and run `smspec lock`"
_LARGEST = 1 << 20


def lock_in(directory: str, boundary: Boundary) -> str | None:
    """Return the path of the lockfile in a directory itself, relative to the current one; or None."""
    path = os.path.join(directory, NAME)
    return os.path.relpath(path) if os.path.lexists(path) and not boundary.is_directory(path) else None


def first_lock_path(directory: str, elsewhere: str, boundary: Boundary) -> str:
    """Return the path for a new lock: at the top of the repository, outside of one ``elsewhere``."""
    top = repository_top(directory)
    if not boundary.contains(elsewhere if top is None else top):
        top = boundary.root
    return os.path.normpath(os.path.join(elsewhere if top is None else os.path.relpath(top), NAME))


def name_in_lock(file: str, lock: str) -> str:
    """Return the name of a requirements file in the lock at a path, independent of the current directory."""
    return os.path.relpath(file, os.path.dirname(lock) or os.curdir)


def read_lock(path: str, boundary: Boundary) -> Lock:
    """Return the content of a lock.

    Raise `InvalidInput`, with positions, if it is not valid; OSError if it is unreadable.
    """
    # Imported late: most repositories have no lock.
    from smspec.service.json.encoding import decode_json_bytes
    from smspec.service.json.json_parser import read_json

    try:
        document = read_json(decode_json_bytes(path, boundary.read_named(path, _LARGEST)))
    except FileNotRead as fault:
        finding = MALFORMED_LOCK.at((), f"{fault}", help="replace it with the file that `smspec lock` writes")
        raise InvalidInput([placed_at(Span(path, 1, 1, 1, 1), finding)], ()) from None
    findings = list(_faults(document))
    if findings:
        raise InvalidInput(placed(findings, document), document.texts)
    return Lock(
        names=_texts(document, "names"),
        images=_texts(document, "images"),
        requirements=_texts(document, "requirements"),
        smspec=_text(document, "smspec"),
        api_model=_text(document, "api_model"),
        image_table=_text(document, "image_table"),
    )


def _faults(document: Document) -> list[Finding]:
    root = document.root
    if not isinstance(root, Mapping):
        return [MALFORMED_LOCK.at((), "smspec.lock is not a lockfile", help=_HELP)]
    version = root.get("lock")
    if not isinstance(version, Scalar) or version.value != VERSION:
        help = f"this smspec reads version {VERSION}; {_HELP}"
        return [MALFORMED_LOCK.at(("lock",), "not a version of the lock that this smspec reads", help=help)]
    findings: list[Finding] = []
    for name, is_valid, lacks in _SECTIONS:
        node = root.get(name)
        if node is not None and not isinstance(node, Mapping):
            findings.append(MALFORMED_LOCK.at((name,), f"`{name}` is not an object", help=_HELP))
        for key, value in node.entries if isinstance(node, Mapping) else ():
            at: Path = (name, key.text)
            if not isinstance(value, Scalar) or not is_valid(str(value.value)):
                findings.append(MALFORMED_LOCK.at(at, f"`{key.text}` has no {lacks} in smspec.lock", help=_HELP))
    for name in ("smspec", "api_model", "image_table"):
        node = root.get(name)
        if node is not None and not (isinstance(node, Scalar) and isinstance(node.value, str)):
            findings.append(MALFORMED_LOCK.at((name,), f"`{name}` is not a string", help=_HELP))
    return findings


def _is_digest(text: str) -> bool:
    return re.fullmatch(DIGEST, text) is not None


def _is_uri(text: str) -> bool:
    """Return whether a string is a whole image URI with a tag, as a short name stands for."""
    image = parsed_reference(text)
    return image is not None and image.registry is not None and image.tag is not None and image.digest is None


_SECTIONS: tuple[tuple[str, Callable[[str], bool], str], ...] = (
    ("names", _is_uri, "image URI"),
    ("images", _is_digest, "digest"),
    ("requirements", _is_digest, "digest"),
)
"""Sections of a lock with the form of their values."""


def _texts(document: Document, name: str) -> dict[str, str]:
    node = document.node((name,))
    entries = node.entries if isinstance(node, Mapping) else ()
    return {key.text: str(value.value) for key, value in entries if isinstance(value, Scalar)}


def _text(document: Document, name: str) -> str:
    node = document.node((name,))
    return str(node.value) if isinstance(node, Scalar) else ""
