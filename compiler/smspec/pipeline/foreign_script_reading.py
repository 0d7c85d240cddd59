"""Read the beginning of a script that is not Python."""

from __future__ import annotations

import os

from smspec.script.program import MOST_FOREIGN_BYTES, ForeignScript
from smspec.source import Document, Scalar
from smspec.source.listing import Listing
from smspec.source.real_file import open_real


def read_foreign_script(document: Document, source: Listing, directory: str) -> ForeignScript | None:
    """Return the script of a spec that is not Python, if it is in the source; ``directory``: that of the source.

    Raise OSError.
    """
    node = document.node(("entry_point", "script"))
    name = node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""
    origin = next((file.origin for file in source.files if file.path == name), None)
    if origin is None or name.endswith(".py"):
        return None
    content = source.unsaved.get(name)
    if content is None:
        with open(open_real(origin), "rb", buffering=0) as file:
            content = file.read(MOST_FOREIGN_BYTES + 1)
    path = os.path.normpath(os.path.join(directory, name))
    return ForeignScript(name=name, file=path, content=content if len(content) <= MOST_FOREIGN_BYTES else b"")
