"""Where one path lies to another, by their names alone."""

from __future__ import annotations

import os


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is a directory or lies below it; both without links."""
    return path == directory or path.startswith(os.path.join(directory, ""))
