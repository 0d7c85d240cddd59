"""Find the repository of a spec: everything that is read because of the spec must be in it.

The top of an organization's specs has an ``smspec.toml``, or a pyproject.toml that mentions smspec. Settings of a spec
are in its directory or anywhere above, inside the repository. The policy of the repository around a submodule applies
to specs in the submodule, although they may not read its files.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from smspec.source.real_file import is_below, read_bounded
from smspec.spec.lock import NAME as LOCK
from smspec.workspace.boundary import Boundary
from smspec.workspace.path_targets import is_repository_top, repository_top, upwards

NAME = "smspec.toml"
PYPROJECT = "pyproject.toml"

DATED_FILES = ("smspec.prices.json", "smspec.quotas.json", "smspec.facts.json")
"""Files next to it, or at the top of a repository, with facts about AWS."""

SETTINGS = (NAME, PYPROJECT, *DATED_FILES, LOCK)
"""The names of files that count for all specs in their directory and below it."""

# `[tool.smspec]`, with any spacing and quotes, or a table `tool`: a project that only depends on smspec need not be
# parsed as TOML. Whatever TOML has the table in must be found, or the policy in it would not count.
_B = rb"[ \t]*"
_TOOL = rb"""["']?tool["']?"""
_LINE = rb"^(?:\xef\xbb\xbf)?" + _B
_OUR_TABLE = rb"(?m)" + rb"|".join(
    (
        _TOOL + _B + rb"\." + _B + rb"""["']?smspec""",
        _LINE + rb"\[" + _B + _TOOL + _B + rb"\]",
        _LINE + _TOOL + _B + rb"=",
    )
)
_ESCAPED_LETTER = rb"\\(?:u00|U000000|x)([0-9A-Fa-f]{2})"
_MOST_SEARCHED = 16 << 20
_LONGEST = 4096
_PREFIX = "gitdir: "
Found = TypeVar("Found")


def is_organization_top(directory: str) -> bool:
    """Return whether a directory itself has such a file, whatever its content."""
    path = os.path.join(directory, PYPROJECT)
    here = Boundary(os.path.realpath(directory))
    is_ours = os.path.lexists(os.path.join(directory, NAME))
    return is_ours or (here.is_file(path) and mentions_smspec(path, here))


def mentions_smspec(path: str, boundary: Boundary) -> bool:
    """Return whether a pyproject.toml may configure smspec. Others are neither parsed nor checked."""
    with open(boundary.open(path), "rb", buffering=0) as file:
        content = read_bounded(file, _MOST_SEARCHED)
    # Above the size limit its content is unknown: its reader rejects it for its size.
    if len(content) > _MOST_SEARCHED:
        return True
    if b"\\" in content:
        content = re.sub(_ESCAPED_LETTER, lambda match: bytes.fromhex(match[1].decode()), content)
    return b"smspec" in content and re.search(_OUR_TABLE, content) is not None


class BoundarySearch:
    """Finds boundaries. It looks at each directory once: the specs of a repository share those above them."""

    __slots__ = ("_boundaries", "_marked")

    def __init__(self) -> None:
        self._boundaries: dict[str, Boundary] = {}
        self._marked: dict[tuple[Callable[[str], bool], str], bool] = {}

    def of(self, directory: str, searched: Iterable[str] = ()) -> Boundary:
        """Return the boundary of specs in a directory.

        It is the nearest parent directory with ``.git``, which no pull request can add; if there is none, the outermost
        with an smspec.toml, or else with a lock, because no file in an inner directory may hide it; else the
        directory among ``searched`` that contains it, or the directory itself.
        """
        for is_marked, is_innermost in ((is_repository_top, True), (is_organization_top, False), (_has_lock, False)):
            top = self._top(directory, is_marked, is_innermost=is_innermost)
            if top is not None:
                return self._at(top)
        here = os.path.abspath(directory)
        named = (os.path.abspath(name) for name in searched)
        return self._at(next((name for name in named if is_below(here, name)), here))

    def repository(self, directory: str) -> str | None:
        """Return the nearest parent directory with ``.git``."""
        return self._top(directory, is_repository_top, is_innermost=True)

    def _at(self, top: str) -> Boundary:
        if top not in self._boundaries:
            self._boundaries[top] = Boundary(os.path.realpath(top))
        return self._boundaries[top]

    def _top(self, directory: str, is_marked: Callable[[str], bool], *, is_innermost: bool) -> str | None:
        """Return the nearest or the outermost marked parent directory; for a link, one that contains the link.

        A directory in which all users of the machine may write, such as /tmp, counts only for what is in it directly.
        """
        top: str | None = None
        for above in upwards(directory):
            if (is_marked, above) not in self._marked:
                self._marked[is_marked, above] = is_marked(above)
            if not self._marked[is_marked, above]:
                continue
            is_elsewhere = top is None or not is_below(os.path.realpath(top), os.path.realpath(above))
            if is_elsewhere or (not is_innermost and not _is_shared(above)):
                top = above
        return top


def boundary_of(directory: str, searched: Iterable[str] = ()) -> Boundary:
    """Return the boundary of specs in a directory, as `BoundarySearch.of` does."""
    return BoundarySearch().of(directory, searched)


def _is_shared(directory: str) -> bool:
    mode = os.stat(directory).st_mode
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def repository_above(directory: str) -> str | None:
    """Return the top of the git repository that is the boundary of specs in a directory; None outside of one."""
    return BoundarySearch().repository(directory)


def _has_lock(directory: str) -> bool:
    return os.path.isfile(os.path.join(directory, LOCK))


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


def file_in(directory: str, name: str) -> str | None:
    """Return the path of what has a name in a directory itself, relative to the current one; or None.

    It may be no regular file: a reader reports that, because a file that is skipped is a way around what it contains.
    """
    path = os.path.join(directory, name)
    return os.path.relpath(path) if os.path.lexists(path) else None


class Layers(Generic[Found]):
    """Looks into each directory once: the specs of a repository share the directories above them."""

    def __init__(self, look: Callable[[str, Boundary], Found | None]) -> None:
        self._look = look
        self._known: dict[tuple[str, str], tuple[Found, ...]] = {}  # by the root of the boundary
        self._asked: dict[tuple[str, str], tuple[Found, ...]] = {}

    def of(self, directory: str, boundary: Boundary) -> tuple[Found, ...]:
        """Return what ``look`` finds in a directory and those above it inside of the boundary, the outermost first."""
        question = boundary.root, directory
        if question not in self._asked:
            self._asked[question] = self._search(directory, boundary)
        return self._asked[question]

    def _search(self, directory: str, boundary: Boundary) -> tuple[Found, ...]:
        passed: list[str] = []
        found: tuple[Found, ...] = ()
        for above in boundary.upwards(directory):
            if (boundary.root, above) in self._known:
                found = self._known[boundary.root, above]
                break
            passed.append(above)
        for above in reversed(passed):
            here = self._look(above, boundary)
            found = found if here is None else (*found, here)
            self._known[boundary.root, above] = found
        return found
