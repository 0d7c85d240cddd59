"""The files that differ from a git revision: in the working tree, whether or not they are in the index."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator

from smspec.source.real_file import is_below
from smspec.workspace.git import GitFailed, Repository, submodule_of
from smspec.workspace.path_targets import places_on_the_way
from smspec.workspace.working_tree import Changes, changes_since


class ChangedFiles:
    """The files of a working tree that are changed, added, or removed since a revision. Raise `GitFailed`."""

    def __init__(self, repository: Repository, revision: str) -> None:
        self.repository = repository
        self._top = repository.top
        changed = changes_since(repository, repository.commit(revision))
        self.unread: list[str] = []
        """The submodules that changed, and that are not checked out: what changed in them is unknown."""
        self.paths = tuple(sorted(self._paths(repository, changed)))
        self._known = frozenset(self.paths)
        self.filtered = changed.filtered
        self._touched: dict[str, bool] = {}

    def touches(self, path: str) -> bool:
        """Return whether a file changed, one below a directory, a link on the way to it, or the submodule it is in."""
        if path not in self._touched:
            self._touched[path] = any(map(self._touches, places_on_the_way(path)))
        return self._touched[path]

    def below(self, directory: str) -> tuple[str, ...]:
        """Return the changed files below a directory, both without links."""
        start = os.path.join(directory, "")
        return tuple(path for path in self.paths[bisect_left(self.paths, start) :] if path.startswith(start))

    def check(self, path: str) -> None:
        """Raise `GitFailed` for a path that is not in the working tree."""
        if not any(is_below(place, self._top) for place in (os.path.realpath(path), place_of(path))):
            raise GitFailed(f"`{path}` is not in the git repository `{self._top}`")

    def _paths(self, repository: Repository, changed: Changes) -> Iterator[str]:
        """Yield the paths of all that changed, in submodules too."""
        for path in (*changed.tracked, *changed.submodules, *changed.untracked):
            yield os.path.join(repository.top, path)
        for path, commit in changed.submodules.items():
            try:
                module = submodule_of(repository, path)
                yield from self._paths(module, _since(module, commit))
            except GitFailed:
                self.unread += [] if path in changed.gone else [os.path.join(repository.top, path)]

    def _touches(self, place: str) -> bool:
        below = bisect_left(self.paths, os.path.join(place, ""))
        if below < len(self.paths) and self.paths[below].startswith(os.path.join(place, "")):
            return True
        while len(place) > len(self._top):
            if place in self._known:
                return True
            place = os.path.dirname(place)
        return False


def _since(module: Repository, commit: str) -> Changes:
    """Return what changed in a submodule; all that it has if it has not the commit, as in a shallow clone."""
    try:
        return changes_since(module, module.commit(commit))
    except GitFailed:
        files = (*(file.path for file in module.staged()), *module.untracked())
        return Changes(tracked=files, submodules={}, gone=frozenset(), untracked=(), filtered={})


def place_of(path: str) -> str:
    """Return the real path of the directory of a file, with its own name, which may be that of a link."""
    path = os.path.abspath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
