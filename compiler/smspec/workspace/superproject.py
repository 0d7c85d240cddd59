"""The repository that contains a submodule: its policy applies to specs there, although they may not read its files."""

from __future__ import annotations

import os

from smspec.workspace.parent_directories import repository_top

_LONGEST = 4096
_PREFIX = "gitdir: "


def superproject_of(top: str) -> str | None:
    """Return the top of the repository with the submodule at ``top``; None for any other repository, or a work tree.

    The file ``.git`` of a submodule leads to ``.git/modules`` of the repository above it.
    """
    marker = os.path.join(top, ".git")
    if not os.path.isfile(marker) or os.path.islink(marker):
        return None
    try:
        with open(marker, encoding="utf-8", errors="surrogateescape") as file:
            written = file.read(_LONGEST).strip()
    except OSError:
        return None
    above = repository_top(os.path.dirname(top)) if written.startswith(_PREFIX) else None
    if above is None:
        return None
    home = os.path.realpath(os.path.join(top, written.removeprefix(_PREFIX)))
    return os.path.realpath(above) if f"{os.sep}modules{os.sep}" in home else None
