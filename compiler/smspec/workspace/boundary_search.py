"""Find the repository of a spec: everything that is read because of the spec must be in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable

from smspec.source.real_file import is_below
from smspec.spec.lock import NAME as LOCK
from smspec.workspace.boundary import Boundary
from smspec.workspace.organization_marker import is_organization_top
from smspec.workspace.parent_directories import is_repository_top, upwards


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
