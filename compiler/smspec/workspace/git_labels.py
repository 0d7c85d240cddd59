"""The labels that lead from an image to its source: the address of the git repository, and the commit.

They are given to the build, and are no part of the Dockerfile: the same source in two clones is the same image.

A commit with changes that are part of the image, or of tracked files, ends in ``-dirty``; without it nothing leads to
the source.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from smspec.source.frozen import dataclass
from smspec.workspace.git import GitFailed, Repository, repository_of, submodule_of
from smspec.workspace.working_tree import changes_since

SOURCE = "org.opencontainers.image.source"
REVISION = "org.opencontainers.image.revision"
DIRTY = "-dirty"
"""The end of a revision that lacks some of what the image contains."""

_SCHEMES = ("https", "http", "ssh", "git")
_SCP = r"(?:[A-Za-z0-9._-]{1,64}@)?[A-Za-z0-9][A-Za-z0-9.-]{1,252}:(?![\\:])[!-~]+"
_LONGEST = 1024
_USUAL = "origin"


@dataclass(frozen=True, slots=True)
class GitState:
    """The commit of a working tree. ``is_dirty``: the commit lacks changes, or one of the files that matter."""

    repository: Repository
    commit: str
    is_dirty: bool


def git_labels(directory: str, files: Iterable[str]) -> dict[str, str]:
    """Return the labels for the working tree that contains a directory; none outside of git.

    ``files``: the paths of what the image contains. A revision ends in `DIRTY` if git tracks one of the changed files,
    or none of these.
    """
    state = git_state(directory, files)
    if state is None:
        return {}
    address = _address(state.repository)
    return {**({SOURCE: address} if address else {}), REVISION: f"{state.commit}{DIRTY if state.is_dirty else ''}"}


def git_state(directory: str, files: Iterable[str]) -> GitState | None:
    """Return the state of the working tree that contains a directory, as far as ``files`` need it; None without one."""
    try:
        repository = repository_of(directory)
        commit = repository.commit("HEAD")
        return GitState(repository, commit=commit, is_dirty=_is_dirty(repository, commit, files))
    except GitFailed:
        return None


def without_credentials(url: str) -> str:
    """Return the address of a remote repository that others may see; empty for a path of this machine."""
    if len(url) > _LONGEST:
        return ""
    if "://" not in url:
        return url if re.fullmatch(_SCP, url) else ""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    is_plain = re.fullmatch(r"[A-Za-z0-9._-]+", parts.hostname or "") and re.fullmatch(r"[!-~]*", url)
    if parts.scheme not in _SCHEMES or not is_plain:
        return ""
    # In a URL of ssh, the user is the account of the server, `git`; in one of https, it may be a token.
    user = f"{parts.username}@" if parts.scheme == "ssh" and parts.username else ""
    return f"{parts.scheme}://{user}{parts.hostname}{port}{parts.path}"


def _address(repository: Repository) -> str:
    try:
        names = repository.remotes()
        name = _USUAL if _USUAL in names else names[0] if len(names) == 1 else ""
        return without_credentials(repository.remote_url(name)) if name else ""
    except GitFailed:
        return ""


def _is_dirty(repository: Repository, commit: str, files: Iterable[str]) -> bool:
    """Return whether the commit lacks a change, or one of the files, which may be in a submodule."""
    tracked: set[str] = set()
    if _has_changes(repository, commit, tracked):
        return True
    # Not what git lists as untracked: it omits what only this clone ignores, and what is in a repository of its own.
    return any(os.path.lexists(path) and os.path.realpath(path) not in tracked for path in files)


def _has_changes(repository: Repository, commit: str, tracked: set[str]) -> bool:
    """Return whether tracked files differ from a commit; else add the paths of all files of it to ``tracked``."""
    entries = tuple(repository.entries(commit))
    changes = changes_since(repository, commit, entries)
    if changes.tracked or changes.submodules:
        return True
    tracked.update(os.path.join(repository.top, entry.path) for entry in entries)
    modules = (submodule_of(repository, path) for path in changes.modules)
    return any(_has_changes(module, module.commit("HEAD"), tracked) for module in modules)
