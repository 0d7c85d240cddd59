"""The findings about a file that is not read: it is outside the repository, or not a spec at all."""

from __future__ import annotations

import os

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, Rule
from smspec.diagnostics.diagnostic import placed_at
from smspec.source import Path, Span
from smspec.spec.layers.layer_faults import NO_VERSION
from smspec.workspace.boundary import Boundary

OUTSIDE = Rule("SM145", "file outside the repository")
LINK_OUT = Rule("SM146", "unread link out of the repository", "note")

_WAY_OUT = "move the file into the repository, or pass `--root DIR` with a directory that contains both"


def outside(at: Path, written: str, path: str, boundary: Boundary) -> Finding:
    """Return the finding for a ``path``, ``written`` so, that is not inside the repository.

    It does not show whether the file exists: that would reveal to a stranger what exists on a machine.
    """
    if boundary.is_of_git(path):
        return OUTSIDE.at(at, f"`{written}` belongs to git", help="name a file outside `.git`")
    is_link = boundary.contains(os.path.dirname(path)) and os.path.islink(path)
    where = "is a link out of the repository" if is_link else "is outside the repository"
    return OUTSIDE.at(at, f"`{written}` {where}", help=_WAY_OUT)


def not_a_spec(at: Path, written: str) -> Finding:
    """Return the finding for a base spec without ``smspec: v1``; it shows nothing of its content."""
    return NO_VERSION.at(
        at,
        f"`{written}` is not a base spec: it does not set `smspec: v1`",
        help="add `smspec: v1` to the file, or remove it from `extends`",
    )


def rejected_outside(path: str) -> InvalidInput:
    """Return the error for a spec that is a link out of the repository."""
    name = os.path.basename(path)
    help = "replace the link with the file, or pass `--root DIR` with a directory that contains both"
    return _rejected(path, OUTSIDE.at((), f"`{name}` is a link out of the repository", help=help))


def rejected_stranger(path: str) -> InvalidInput:
    """Return the error for a spec that is a link to a file which is not a spec."""
    name = os.path.basename(path)
    help = "replace the link with a file that sets `smspec: v1`"
    return _rejected(path, NO_VERSION.at((), f"`{name}` is a link to a file that is not a spec", help=help))


def unread_link(path: str) -> Diagnostic:
    """Return the diagnostic for a YAML file in a searched directory that is a link out of the repository."""
    name = os.path.basename(path)
    help = "replace the link with the file, if it is a spec"
    return _at_the_file(
        path, LINK_OUT.at((), f"`{name}` is not checked: it is a link out of the repository", help=help)
    )


def _rejected(path: str, finding: Finding) -> InvalidInput:
    return InvalidInput([_at_the_file(path, finding)], ())


def _at_the_file(path: str, finding: Finding) -> Diagnostic:
    return placed_at(Span(path, 1, 1, 1, 1), finding)
