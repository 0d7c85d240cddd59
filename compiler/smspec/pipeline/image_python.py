"""The Python that starts a script, from the image of a spec whose shape is not checked yet."""

from __future__ import annotations

import re

from smspec.service.image_python import Version, locked_python, python_of_image
from smspec.source import Document, Node, Scalar, Sequence
from smspec.spec.lock import Lock

_OTHER_PYTHON = r"python|conda|mamba|pyenv|\buv\b|pixi|update-alternatives"
_MOVES = (("image", "env", "PATH"), ("environment", "PATH"), ("image", "env", "PYTHONHOME"))


def image_python(document: Document, lock: Lock | None) -> Version | None:
    """Return the version of Python that starts the script; None if the spec does not show it.

    The URI of a short name in a lock shows it better than a table that may be newer.
    """
    if any(document.node(path) is not None for path in _MOVES):
        return None
    if any(re.search(_OTHER_PYTHON, line) for line in _texts(document.node(("image", "run")))):
        return None
    words = _texts(document.node(("entry_point", "command")))
    if words and words[0] not in ("python", "python3"):
        return None
    image = _text(document.node(("image",))) or _text(document.node(("image", "base")))
    packages = _texts(document.node(("image", "system_packages")))
    if image is None:
        return None
    locked = {uri for name, uri in (lock.names if lock else {}).items() if name.startswith(f"{image} ")}
    pythons = lock.pythons if lock else {}
    versions = {python_of_image(uri, packages) or locked_python(pythons.get(uri, "")) for uri in locked or (image,)}
    return versions.pop() if len(versions) == 1 else None


def _text(node: Node | None) -> str | None:
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) and node.value else None


def _texts(node: Node | None) -> tuple[str, ...]:
    items = node.items if isinstance(node, Sequence) else ()
    return tuple(item.value for item in items if isinstance(item, Scalar) and isinstance(item.value, str))
