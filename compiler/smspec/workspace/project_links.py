"""Links that lead out of a project: one that git tracks may come from a pull request, any other is the author's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from smspec.source.git_command import GitEndless, GitMissing, GitWaits, run_git
from smspec.source.real_file import MOST_LINKS, is_below
from smspec.workspace.boundary_search import boundary_of, repository_above

_MOST_PATHS = 500
"""In one command line of git."""


class LeadsOut(Exception):
    """Data lead out of the project on a ``way`` that a pull request could add, to ``place``."""

    def __init__(self, way: str, place: str) -> None:
        super().__init__(f"`{os.path.relpath(way)}` leads to `{place}`, outside the project")


class Project:
    """The repository of a spec, or the directory that smspec takes for it."""

    def __init__(self, directory: str) -> None:
        self.root = boundary_of(directory).root
        repository = repository_above(directory)
        self._repository = None if repository is None else os.path.realpath(repository)

    def contains(self, place: str) -> bool:
        """Return whether a path without links is inside; git's own files are not, which may hold the token of a CI."""
        return is_below(place, self.root) and not is_below(place, os.path.join(self.root, ".git"))

    def read_outside(self, source: str, paths: Iterable[str], manifest: str | None = None) -> tuple[str, ...]:
        """Return the places outside the project that the data at ``source`` with ``paths`` have. Raise `LeadsOut`.

        ``manifest`` names the paths: if git tracks it, none of them may be outside.
        """
        paths = list(paths)
        ways = self._ways_out(source, paths if manifest is None else [*paths, manifest])
        refused = self.tracked(ways)
        if refused is None and manifest is not None and self.tracked([manifest]) is not None:
            refused = next((way for way in ways if way in paths), None)
        if refused is not None:
            raise LeadsOut(refused, ways[refused])
        return tuple(
            sorted({place for place in (*ways.values(), os.path.realpath(source)) if not self.contains(place)})
        )

    def _ways_out(self, source: str, paths: Iterable[str]) -> dict[str, str]:
        """Return way → place for what leads out of the project, and out of the data at ``source``.

        A way is a link of the project, or the path itself.
        """
        found = {way: os.path.realpath(way) for way in self._links_out(source, ())}
        top = os.path.realpath(source)
        tops = (top if os.path.isdir(top) else os.path.dirname(top),)
        places: dict[str, str] = {}
        for path in paths:
            above, name = os.path.split(path)
            if above not in places:
                places[above] = os.path.realpath(above)
            place = os.path.realpath(path) if os.path.islink(path) else os.path.join(places[above], name)
            if not self._is_in(place, tops):
                found.update((way, os.path.realpath(way)) for way in [*self._links_out(path, tops)] or [path])
        return found

    def tracked(self, ways: Iterable[str]) -> str | None:
        """Return one of some ways that git tracks, or that is unknown; None for those of the author."""
        inside = {relative: way for way in ways if (relative := self._relative(way)) is not None}
        names = list(inside)
        if self._repository is None:
            return None
        unknown = next((name for name in names if self._is_of_another(self._repository, name)), None)
        if unknown is not None:
            return inside[unknown]
        for start in range(0, len(names), _MOST_PATHS):
            part = names[start : start + _MOST_PATHS]
            try:
                ended = run_git(["ls-files", "-z", "--", *part], self._repository)
            except (GitMissing, GitWaits, GitEndless, OSError):
                return inside[part[0]]
            listed = [os.fsdecode(name) for name in ended.stdout.split(b"\0") if name]
            if ended.returncode or listed:
                return inside.get(listed[0] if listed else "", inside[part[0]])
        return None

    def _is_of_another(self, repository: str, name: str) -> bool:
        """Return whether a path is one of git's own, or in a nested repository, such as a submodule."""
        parts = name.split(os.sep)
        return parts[0] == ".git" or any(
            os.path.lexists(os.path.join(repository, *parts[:depth], ".git")) for depth in range(1, len(parts))
        )

    def _is_in(self, place: str, tops: Iterable[str]) -> bool:
        is_data = any(is_below(place, top) for top in tops) and not is_below(place, os.path.join(self.root, ".git"))
        return is_data or self.contains(place)

    def _links_out(self, path: str, tops: Iterable[str]) -> Iterator[str]:
        """Yield the links on a path that are in the project and lead out, and those that they lead over."""
        for _ in range(MOST_LINKS):
            link = self._link_out(path, tops)
            if link is None:
                return
            yield link
            rest = os.path.relpath(os.path.abspath(path), link)
            path = os.path.join(os.path.realpath(os.path.dirname(link)), os.readlink(link), rest)

    def _link_out(self, path: str, tops: Iterable[str]) -> str | None:
        """Return the first link on a path that is in the project and leads out."""
        for place in _above(os.path.abspath(path)):
            if os.path.islink(place):
                above = os.path.realpath(os.path.dirname(place))
                if is_below(above, self.root) and not self._is_in(os.path.realpath(place), tops):
                    return place
        return None

    def _relative(self, way: str) -> str | None:
        if self._repository is None:
            return None
        place = os.path.join(os.path.realpath(os.path.dirname(way)), os.path.basename(way))
        return os.path.relpath(place, self._repository) if is_below(place, self._repository) else None


def tracked_link(path: str) -> str | None:
    """Return a link on a path that git tracks and that leads out of its repository: writing would go there."""
    for place in _above(os.path.abspath(path)):
        if os.path.islink(place):
            project = Project(os.path.dirname(place))
            if not project.contains(os.path.realpath(place)) and project.tracked([place]) is not None:
                return place
    return None


def written_outside(link: str) -> str:
    """Return the message about an output directory that such a link is part of."""
    place = os.path.realpath(link)
    return (
        f"`{os.path.relpath(link)}` is a link that git tracks, to `{place}`, outside the repository; "
        "pass a different directory with -o"
    )


def _above(path: str) -> Iterator[str]:
    """Yield the directories on an absolute path, from the outermost one, and the path."""
    here = ""
    for part in path.split(os.sep)[1:]:
        here = f"{here}{os.sep}{part}"
        yield here
