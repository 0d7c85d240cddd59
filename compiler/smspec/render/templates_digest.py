"""The digest of what generates files: it is part of an image's tag."""

from __future__ import annotations

import functools
import hashlib
import os

_HERE = os.path.dirname(os.path.abspath(__file__))
_TEMPLATES = os.path.join(_HERE, "templates")
_MODULES = ("dockerfile.py", "image_settings.py", "quoting.py", "templating.py")
"""The modules that fill the templates.

A change of a module may change a generated file, and then the tag must change.
"""


@functools.cache
def templates_digest() -> str:
    """Return the SHA-256 of the templates and of the modules that fill them."""
    digest = hashlib.sha256()
    files = [os.path.join(_HERE, name) for name in _MODULES]
    files += [os.path.join(_TEMPLATES, name) for name in sorted(os.listdir(_TEMPLATES)) if name.endswith(".j2")]
    for path in files:
        with open(path, "rb") as file:
            content = hashlib.sha256(file.read()).hexdigest()
        digest.update(f"{os.path.basename(path)}\0{content}\n".encode())
    return digest.hexdigest()
