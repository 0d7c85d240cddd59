"""Parse the content of a lockfile, and check the form of every entry."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from smspec.diagnostics import Finding, InvalidInput, placed
from smspec.organization.lock_environments import (
    HELP,
    MALFORMED_LOCK,
    LockEnvironments,
    decoded,
    environment_faults,
    lock_environments,
)
from smspec.service.image_reference import DIGEST, parsed_reference
from smspec.service.json_parser import decode_json_bytes, read_json
from smspec.source import Document, Mapping, Path, Scalar, to_data
from smspec.spec.lock import PYTHON, VERSION, Lock
from smspec.spec.locked_environment import LockedEnvironment

_ENVIRONMENTS = "environments"


def lock_content(path: str, content: bytes) -> Lock:
    """Return the lock in the content of a file. Raise `InvalidInput`, with positions, if it is not valid."""
    environments = lock_environments(path, content)
    if environments is None:
        return _lock(path, content, None)
    try:
        return _lock(path, environments.rest(keeps_lines=False), environments)
    except InvalidInput:
        return _lock(path, environments.rest(keeps_lines=True), environments)


def _lock(path: str, content: bytes, environments: LockEnvironments | None) -> Lock:
    """Return the lock in a text; ``environments``: those that it is without."""
    document = read_json(decode_json_bytes(path, content))
    findings = _faults(document)
    if findings:
        raise InvalidInput(placed(findings, document), document.texts)
    return Lock(
        names=_texts(document, "names"),
        images=_texts(document, "images"),
        pythons=_texts(document, "pythons"),
        requirements=_texts(document, "requirements"),
        environments=_environments(document) if environments is None else environments,
        smspec=_text(document, "smspec"),
        api_model=_text(document, "api_model"),
        image_table=_text(document, "image_table"),
    )


def _faults(document: Document) -> list[Finding]:
    root = document.root
    if not isinstance(root, Mapping):
        return [MALFORMED_LOCK.at((), "smspec.lock is not a lockfile", help=HELP)]
    version = root.get("lock")
    if not isinstance(version, Scalar) or version.value != VERSION:
        help = f"this smspec reads version {VERSION}; {HELP}"
        return [MALFORMED_LOCK.at(("lock",), "not a version of the lock that this smspec reads", help=help)]
    findings: list[Finding] = []
    for name, is_valid, lacks in _SECTIONS:
        node = root.get(name)
        if node is not None and not isinstance(node, Mapping):
            findings.append(MALFORMED_LOCK.at((name,), f"`{name}` is not an object", help=HELP))
        for key, value in node.entries if isinstance(node, Mapping) else ():
            at: Path = (name, key.text)
            if not isinstance(value, Scalar) or not is_valid(str(value.value)):
                findings.append(MALFORMED_LOCK.at(at, f"`{key.text}` has no {lacks} in smspec.lock", help=HELP))
    node = root.get(_ENVIRONMENTS)
    if node is not None and not isinstance(node, Mapping):
        findings.append(MALFORMED_LOCK.at((_ENVIRONMENTS,), f"`{_ENVIRONMENTS}` is not an object", help=HELP))
    for key, value in node.entries if isinstance(node, Mapping) else ():
        for field, message in environment_faults(key.text, to_data(value)).items():
            at = (_ENVIRONMENTS, key.text, *([field] if field else []))
            findings.append(MALFORMED_LOCK.at(at, message, help=HELP))
    for name in ("smspec", "api_model", "image_table"):
        node = root.get(name)
        if node is not None and not (isinstance(node, Scalar) and isinstance(node.value, str)):
            findings.append(MALFORMED_LOCK.at((name,), f"`{name}` is not a string", help=HELP))
    return findings


def _is_digest(text: str) -> bool:
    return re.fullmatch(DIGEST, text) is not None


def _is_python(text: str) -> bool:
    return re.fullmatch(PYTHON, text) is not None


def _is_uri(text: str) -> bool:
    """Return whether a string is a whole image URI with a tag, as a short name stands for."""
    image = parsed_reference(text)
    return image is not None and image.registry is not None and image.tag is not None and image.digest is None


_SECTIONS: tuple[tuple[str, Callable[[str], bool], str], ...] = (
    ("names", _is_uri, "image URI"),
    ("images", _is_digest, "digest"),
    ("pythons", _is_python, "version of Python"),
    ("requirements", _is_digest, "digest"),
)
"""Sections of a lock with the form of their values."""


def _environments(document: Document) -> dict[str, LockedEnvironment]:
    node = document.node((_ENVIRONMENTS,))
    entries = node.entries if isinstance(node, Mapping) else ()
    return {key.text: decoded(cast("dict[str, object]", to_data(value))) for key, value in entries}


def _texts(document: Document, name: str) -> dict[str, str]:
    node = document.node((name,))
    entries = node.entries if isinstance(node, Mapping) else ()
    return {key.text: str(value.value) for key, value in entries if isinstance(value, Scalar)}


def _text(document: Document, name: str) -> str:
    node = document.node((name,))
    return str(node.value) if isinstance(node, Scalar) else ""
