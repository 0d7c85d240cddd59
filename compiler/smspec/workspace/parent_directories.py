"""The parents of a directory: settings for a spec are in its directory or anywhere above."""

from __future__ import annotations

import os
from collections.abc import Iterator


def upwards(directory: str) -> Iterator[str]:
    """Yield the absolute path of a directory, then of each of its parents."""
    here = os.path.abspath(directory)
    yield here
    while (parent := os.path.dirname(here)) != here:
        here = parent
        yield here


def repository_top(directory: str) -> str | None:
    """Return the top of the git repository that contains a directory; None outside of one."""
    return next(filter(is_repository_top, upwards(directory)), None)


def is_repository_top(directory: str) -> bool:
    """Return whether a directory is the top of a git repository, a submodule, or a work tree."""
    return os.path.lexists(os.path.join(directory, ".git"))
