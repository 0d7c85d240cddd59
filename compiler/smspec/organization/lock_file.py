"""``smspec.lock``: one file for a repository, the nearest one in the directory of a spec or above."""

from __future__ import annotations

import os

from smspec.diagnostics import InvalidInput
from smspec.diagnostics.locating import placed_at
from smspec.source import Span
from smspec.spec.lock import NAME, Lock
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import file_in
from smspec.workspace.path_targets import repository_top

LARGEST = 16 << 20
"""Bytes. An environment of 64 packages takes 5 kB, so this is room for 3,000; all else stays below 1 MiB."""


def lock_in(directory: str, _: Boundary) -> str | None:
    """Return the path of the lockfile in a directory itself, relative to the current one; or None."""
    return file_in(directory, NAME)


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
    from smspec.organization.lock_content import lock_content
    from smspec.organization.lock_environments import HELP, MALFORMED_LOCK

    try:
        content = boundary.read_named(path, LARGEST)
    except FileNotRead as fault:
        finding = MALFORMED_LOCK.at((), f"{fault}", help="replace it with the file that `smspec lock` writes")
        raise InvalidInput([placed_at(Span(path, 1, 1, 1, 1), finding)], ()) from None
    if len(content) > LARGEST:
        large = MALFORMED_LOCK.at((), f"`{NAME}` is larger than {LARGEST >> 20} MiB", help=HELP)
        raise InvalidInput([placed_at(Span(path, 1, 1, 1, 1), large)], ())
    return lock_content(path, content)
