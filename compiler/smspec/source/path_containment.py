"""Compare paths by their names alone."""

from __future__ import annotations

import os


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is a directory or below it; both without links."""
    return path == directory or path.startswith(os.path.join(directory, ""))
