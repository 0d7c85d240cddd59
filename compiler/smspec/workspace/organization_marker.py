"""The file that marks the top of an organization's specs: ``smspec.toml``, or a pyproject.toml that mentions smspec."""

from __future__ import annotations

import os
import re

from smspec.spec.lock import NAME as LOCK
from smspec.workspace.boundary import Boundary

NAME = "smspec.toml"
PYPROJECT = "pyproject.toml"
DATED_FILES = ("smspec.prices.json", "smspec.quotas.json")
"""Files next to it, or at the top of a repository, with facts about AWS."""

SETTINGS = (NAME, PYPROJECT, *DATED_FILES, LOCK)
"""The names of files that count for all specs in their directory and below it."""

# `[tool.smspec]`, with any spacing and quotes, or a table `tool`: a project that only depends on smspec need not be
# parsed as TOML.
_B = rb"[ \t]{0,9}"
_TOOL = rb"""["']?tool["']?"""
_OUR_TABLE = rb"(?m)" + rb"|".join(
    (
        _TOOL + _B + rb"\." + _B + rb"""["']?smspec""",
        rb"^" + _B + rb"\[" + _B + _TOOL + _B + rb"\]",
        rb"^" + _TOOL + _B + rb"=",
    )
)
_LONGEST_HEADER = 64
_MOST_SEARCHED = 16 << 20


def is_organization_top(directory: str) -> bool:
    """Return whether a directory itself has such a file, whatever its content."""
    path = os.path.join(directory, PYPROJECT)
    here = Boundary(os.path.realpath(directory))
    is_ours = os.path.lexists(os.path.join(directory, NAME))
    return is_ours or (here.is_file(path) and mentions_smspec(path, here))


def mentions_smspec(path: str, boundary: Boundary) -> bool:
    """Return whether a pyproject.toml may configure smspec. Others are neither parsed nor checked."""
    with open(boundary.open(path), "rb") as file:
        end, size = b"", 0
        while piece := file.read(1 << 16):
            size += len(piece)
            # Above the size limit its content is unknown: its reader rejects it for its size.
            if size > _MOST_SEARCHED or (b"smspec" in end + piece and re.search(_OUR_TABLE, end + piece)):
                return True
            end = piece[-_LONGEST_HEADER:]
    return False
