"""The Python that starts a script, from the image of a spec whose shape is not checked yet."""

from __future__ import annotations

import re

from smspec.service.image_python import Version, python_of_image
from smspec.source import Document, Node, Scalar, Sequence

_OTHER_PYTHON = r"python|conda|mamba|pyenv|\buv\b|pixi|update-alternatives"
_MOVES = (("image", "env", "PATH"), ("environment", "PATH"), ("image", "env", "PYTHONHOME"))


def image_python(document: Document) -> Version | None:
    """Return the version of Python that starts the script; None if the spec does not show it."""
    if any(document.node(path) is not None for path in _MOVES):
        return None
    if any(re.search(_OTHER_PYTHON, line) for line in _texts(document.node(("image", "run")))):
        return None
    words = _texts(document.node(("entry_point", "command")))
    if words and words[0] not in ("python", "python3"):
        return None
    image = _text(document.node(("image",))) or _text(document.node(("image", "base")))
    packages = _texts(document.node(("image", "system_packages")))
    return None if image is None else python_of_image(image, packages)


def _text(node: Node | None) -> str | None:
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) and node.value else None


def _texts(node: Node | None) -> tuple[str, ...]:
    items = node.items if isinstance(node, Sequence) else ()
    return tuple(item.value for item in items if isinstance(item, Scalar) and isinstance(item.value, str))
