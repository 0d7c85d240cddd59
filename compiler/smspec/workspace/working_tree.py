"""Compare a working tree with a commit, without a filter of git: files are hashed here.

A file as git wrote it is the object of the index, however git converted it: the index has the file's size, times, and
inode, and is never part of a commit. Any other file is read. If the index has the object of the commit, line endings
that git would convert and the file of a Git LFS pointer count as equal; the output of other filters counts as a change,
which is reported.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import BinaryIO

from smspec.source.frozen import dataclass
from smspec.source.real_file import is_below, open_below, sha256_of
from smspec.workspace.git import (
    LINK,
    SUBMODULE,
    Entry,
    GitFailed,
    Repository,
    StagedFile,
    submodule_of,
)
from smspec.workspace.own_directories import temporary_directory
from smspec.workspace.path_targets import RealPaths, goes_up_first, place_of, places_on_the_way

_REGULAR = ("100644", "100755")
_ATTRIBUTES = ".gitattributes"
_SHA1 = 40
_CHUNK = 1 << 20
_LONGEST_TEXT = 64 << 20
_32_BITS = 0xFFFFFFFF
_SAME, _CHANGED, _CONVERTED = "same", "changed", "converted"
_LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Paths that differ from a commit: of files that it or the index has, of submodules, and of files of neither.

    ``submodules``: each with its object in the commit, empty for none. ``gone``: those that the index no longer has.
    ``modules``: others that are checked out, in which files may differ from their commit.
    ``filtered``: those of the first with the name of a filter: they may differ only because it was not executed.
    """

    tracked: tuple[str, ...]
    submodules: dict[str, str]
    gone: frozenset[str]
    modules: tuple[str, ...]
    untracked: tuple[str, ...]
    filtered: dict[str, str]


def changes_since(repository: Repository, commit: str, entries: Iterable[Entry] | None = None) -> Changes:
    """Return what differs in the working tree, removed files too, but no ignored ones. Raise `GitFailed`."""
    base = {entry.path: entry for entry in (repository.entries(commit) if entries is None else entries)}
    staged = {file.path: file for file in repository.staged}
    untracked = {path for path in repository.untracked() if path not in base}
    tree = WorkingTree(repository, staged)
    changed: list[str] = []
    submodules: dict[str, str] = {}
    modules: list[str] = []
    converted: list[str] = []
    for path in sorted(base.keys() | staged.keys()):
        then, now = base.get(path), staged.get(path)
        if SUBMODULE in (then.mode if then else "", now.mode if now else ""):
            if then is None or now is None or then.mode != now.mode or tree.submodule(path, now) != then.object:
                submodules[path] = then.object if then is not None and then.mode == SUBMODULE else ""
            elif tree.is_checked_out(path):
                modules.append(path)
            continue
        found = tree.compared(path, then)
        if found is _CONVERTED:
            converted.append(path)
        elif found is _CHANGED:
            changed.append(path)
    conversions = Conversions(repository, commit, base.values(), tree)
    converts = conversions.with_other_endings(converted) if converted else set()
    changed += [path for path in converted if path not in converts]
    return Changes(
        tracked=tuple(sorted(changed)),
        submodules=submodules,
        gone=frozenset(path for path in submodules if path not in staged or staged[path].mode != SUBMODULE),
        modules=tuple(modules),
        untracked=tuple(sorted(untracked)),
        filtered=conversions.filters_of(changed),
    )


class Conversions:
    """What git writes for the objects of a commit: text with other line endings, or the output of a filter.

    Only for files of the index that are the same in the commit, and only if all `.gitattributes` are, too: who changes
    these changes what is in the working tree.
    """

    def __init__(
        self, repository: Repository, commit: str, base: Iterable[Entry], tree: WorkingTree | None = None
    ) -> None:
        self._repository = repository
        self._commit = commit
        self._base = {entry.path: entry.object for entry in base}
        self._known = tree
        self.unexecuted: dict[str, str] = {}
        """The filters, by path, of files that are compared with what git stores, because no filter is executed."""

    @property
    def _tree(self) -> WorkingTree:
        if self._known is None:
            self._known = WorkingTree(self._repository, {file.path: file for file in self._repository.staged})
        return self._known

    def _same(self, paths: Iterable[str]) -> list[str]:
        """Return those of some paths whose objects, and all attributes, are the same in the commit and the index."""
        index = self._tree.objects
        same = [path for path in paths if path in self._base and index.get(path) == self._base[path]]
        return same if same and self._has_same_attributes else []

    @cached_property
    def _has_same_attributes(self) -> bool:
        return _attributes(self._base) == _attributes(self._tree.objects)

    def in_lfs(self, pointers: dict[str, bool]) -> list[str]:
        """Return those of some paths of pointers of the commit that stand for their files.

        Anyone can commit a text that looks like a pointer: Git LFS replaces it only if attributes say so.
        ``pointers``: path → whether the working tree has a pointer, too, as in a checkout without Git LFS. If the
        attributes of the two sides differ, it still counts as changed.
        """
        if not pointers:
            return []
        now = self._in_lfs(pointers)
        then = now if self._has_same_attributes else self._in_lfs_then & pointers.keys()
        changes = then ^ now
        return [path for path, is_here in pointers.items() if path in (changes if is_here else then)]

    @cached_property
    def _in_lfs_then(self) -> set[str]:
        """All files that Git LFS has by the attributes of the commit: they are read once, not for each spec."""
        with temporary_directory() as scratch:
            index = os.path.join(scratch, "index")
            self._repository.write_index(self._commit, index)
            return self._in_lfs(self._base, index)

    def _in_lfs(self, paths: Iterable[str], index: str = "") -> set[str]:
        found = self._repository.attributes(paths, ("filter",), index)
        return {path for path, values in found.items() if values.get("filter") == "lfs"}

    def filters_of(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the filters of those of some paths that are the same in the commit and the index."""
        same = self._same(paths)
        found = self._repository.attributes(same, ("filter",)) if same else {}
        names = {path: found.get(path, {}).get("filter", "unspecified") for path in same}
        return {path: name for path, name in names.items() if name not in ("unspecified", "unset", "set")}

    def with_other_endings(self, paths: Iterable[str]) -> set[str]:
        """Return those of some paths of text in whose line endings git converts."""
        wanted = self._same(paths)
        if not wanted:
            return set()
        by_default = self._repository.setting("core.autocrlf").lower() in ("true", "input", "yes", "on", "1")
        found = self._repository.attributes(wanted, ("text", "eol"))
        return {path for path in wanted if _is_converted(found.get(path, {}), by_default)}

    def checked_out(self, contents: dict[str, bytes]) -> dict[str, bytes]:
        """Return the contents of files of the commit as git writes them in the working tree."""
        here = {path: text for path in contents if (text := self._other(path, contents[path])) is not None}
        same = {path: here[path] for path in self._same(here)} if here else {}
        written = {path: content for path, content in same.items() if self._tree.is_untouched(path)}
        rest = same.keys() - written.keys()
        endings = [path for path in rest if unix_text(same[path]) == contents[path]]
        written |= {path: same[path] for path in self.with_other_endings(endings)}
        self.unexecuted |= self.filters_of(sorted(rest - written.keys()))
        return {**contents, **written}

    def _other(self, path: str, stored: bytes) -> bytes | None:
        """Return the content of a file of the working tree if it is not that of the object, and not too long."""
        if stored.startswith(_POINTER):
            return None  # the digest in it is that of the file
        try:
            with open(open_below(self._repository.top, path.split("/")), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > _LONGEST_TEXT or (size == len(stored) and not self._has_filters):
                    return None
                content = file.read(_LONGEST_TEXT + 1)
        except (OSError, ValueError):
            return None
        return content if content != stored and len(content) <= _LONGEST_TEXT else None

    @cached_property
    def _has_filters(self) -> bool:
        """Whether git may convert a file without a change of its size."""
        return self._repository.has_filters()


def _attributes(files: dict[str, str]) -> set[tuple[str, str]]:
    return {(path, files[path]) for path in files if path.rpartition("/")[2] == _ATTRIBUTES}


def _is_converted(attributes: dict[str, str], by_default: bool) -> bool:
    text, eol = attributes.get("text", "unspecified"), attributes.get("eol", "unspecified")
    if text == "unset":
        return False
    return text in ("set", "auto") or eol in ("lf", "crlf") or by_default


class WorkingTree:
    """The files of a working tree, with what the index knows of them."""

    def __init__(self, repository: Repository, staged: dict[str, StagedFile]) -> None:
        self._repository = repository
        self._staged = staged
        self._written = repository.index_time
        self._has_modes = repository.setting("core.filemode").lower() != "false"
        self.objects = {path: file.object for path, file in staged.items()}

    def is_untouched(self, path: str) -> bool:
        """Return whether the index proves that a file is as git wrote it."""
        now, state = self._staged.get(path), self._state(path)
        return now is not None and state is not None and now.is_merged and self._is_written(state, now)

    def compared(self, path: str, then: Entry | None) -> str:
        """Return how a path differs from a file of the commit, of which there may be none."""
        now = self._staged.get(path)
        state = self._state(path)
        if state is None:
            if now is not None and now.is_sparse:  # a sparse checkout: git has not written it
                return _SAME if then is not None and (now.mode, now.object) == (then.mode, then.object) else _CHANGED
            return _SAME if then is None else _CHANGED
        if then is None or (now is not None and not now.is_merged):
            return _CHANGED
        if now is not None and self._is_written(state, now) and now.object == then.object:
            return _SAME if now.mode == then.mode else _CHANGED
        if not self._has_type(state, then.mode):
            return _CHANGED
        return self._content(path, then, now is not None and now.object == then.object)

    def submodule(self, path: str, now: StagedFile) -> str:
        """Return the commit of a submodule: the one that is checked out, or else that of the index."""
        try:
            return submodule_of(self._repository, path).commit("HEAD") if self.is_checked_out(path) else now.object
        except GitFailed:
            return ""

    def is_checked_out(self, path: str) -> bool:
        """Return whether a submodule has a repository here."""
        return os.path.lexists(os.path.join(self._repository.top, path, ".git"))

    def _state(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(os.path.join(self._repository.top, path))
        except (OSError, ValueError):
            return None

    def _is_written(self, state: os.stat_result, now: StagedFile) -> bool:
        """Return whether a file is as git wrote it; one of the same moment as the index may have changed since."""
        here = (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino & _32_BITS)
        return here == now.state and max(now.state[1:3]) < self._written

    def _has_type(self, state: os.stat_result, mode: str) -> bool:
        if mode == LINK:
            return stat.S_ISLNK(state.st_mode)
        if mode not in _REGULAR or not stat.S_ISREG(state.st_mode):
            return False
        return not self._has_modes or bool(state.st_mode & stat.S_IXUSR) == (mode == _REGULAR[1])

    def _content(self, path: str, then: Entry, is_staged: bool) -> str:
        """Read a file to compare it with an object; one below a link is not what git tracks."""
        try:
            if then.mode == LINK:
                link = os.path.join(self._repository.top, path)
                if os.path.realpath(os.path.dirname(link)) != os.path.dirname(link):
                    return _CHANGED
                return _SAME if object_name(then.object, os.fsencode(os.readlink(link))) == then.object else _CHANGED
            with open(open_below(self._repository.top, path.split("/")), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if _hashed(then.object, size, file) == then.object:
                    return _SAME
                if not is_staged:
                    return _CHANGED
                file.seek(0)
                pointer = _LFS.format(sha256_of(file), size).encode()
                if object_name(then.object, pointer) == then.object:
                    return _SAME
                file.seek(0)
                content = file.read(_LONGEST_TEXT + 1)
        except (OSError, ValueError):
            return _CHANGED
        text = unix_text(content) if len(content) <= _LONGEST_TEXT else content
        return _CONVERTED if text != content and object_name(then.object, text) == then.object else _CHANGED


def unexecuted(filters: dict[str, str]) -> str:
    """Return what a filter means for the files of ``filters``, as a sentence; empty for none."""
    if not filters:
        return ""
    first, *more = sorted(filters)
    files = f"`{first}` and {len(more)} more count as changed" if more else f"`{first}` counts as changed"
    names = ", ".join(f"`{name}`" for name in sorted(set(filters.values()))[:3])
    return f"{files}: smspec does not execute filters of git ({names}); if nothing changed, run `git status` first"


def unix_text(content: bytes) -> bytes:
    """Return a text with the line endings that git stores; what is not text, as it is."""
    return content if b"\0" in content else content.replace(b"\r\n", b"\n")


def object_name(name: str, content: bytes) -> str:
    """Return the name of an object with some content, by the algorithm of the given name."""
    return _hashed(name, len(content), io.BytesIO(content))


def _hashed(name: str, size: int, file: BinaryIO) -> str:
    # The name of an object, not a proof of who wrote it: git detects forged SHA-1 when it stores an object.
    digest = (hashlib.sha1 if len(name) == _SHA1 else hashlib.sha256)(b"blob %d\0" % size, usedforsecurity=False)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


class ChangedFiles:
    """The files of a working tree that are changed, added, or removed since a revision. Raise `GitFailed`."""

    def __init__(self, repository: Repository, revision: str) -> None:
        self.repository = repository
        self._top = repository.top
        self.commit = repository.commit(revision)
        self.entries = tuple(repository.entries(self.commit))
        changed = changes_since(repository, self.commit, self.entries)
        self.unread: list[str] = []
        """The submodules that changed, and that are not checked out: what changed in them is unknown."""
        self.paths = tuple(sorted(self._paths(repository, changed)))
        self._known = frozenset(self.paths)
        self.filtered = changed.filtered
        self._touched: dict[str, bool] = {}
        self._real_paths = RealPaths()

    def touches(self, path: str) -> bool:
        """Return whether a file changed, one below a directory, a link on the way to it, or the submodule it is in."""
        if path not in self._touched:
            place = self._real_paths.without_links(path)
            self._touched[path] = self._touches(place) if place else any(map(self._touches, places_on_the_way(path)))
        return self._touched[path]

    def touches_from(self, directory: str, written: str) -> bool:
        """Return what `touches` does for a path that is written in a file of a directory."""
        place = self._real_paths.without_links(directory)
        if place and goes_up_first(written):
            return self.touches(os.path.normpath(os.path.join(place, written)))
        return self.touches(os.path.join(directory, written))

    def below(self, directory: str) -> tuple[str, ...]:
        """Return the changed files below a directory, both without links."""
        start = os.path.join(directory, "")
        return tuple(path for path in self.paths[bisect_left(self.paths, start) :] if path.startswith(start))

    def check(self, path: str) -> None:
        """Raise `GitFailed` for a path that is not in the working tree."""
        place = self._real_paths.without_links(path)
        places = (place,) if place else (os.path.realpath(path), place_of(path))
        if not any(is_below(place, self._top) for place in places):
            raise GitFailed(f"`{path}` is not in the git repository `{self._top}`")

    def _paths(self, repository: Repository, changed: Changes) -> Iterator[str]:
        """Yield the paths of all that changed, in submodules too."""
        for path in (*changed.tracked, *changed.submodules, *changed.untracked):
            yield os.path.join(repository.top, path)
        for path, commit in (*changed.submodules.items(), *((each, "HEAD") for each in changed.modules)):
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
        files = (*(file.path for file in module.staged), *module.untracked())
        return Changes(tracked=files, submodules={}, gone=frozenset(), modules=(), untracked=(), filtered={})
