"""Compare a working tree with a commit, without a filter of git: files are hashed here.

A file as git wrote it is the object of the index, however git converted it. Any other is read. If the index has the
object of the commit, line endings that git would convert and the file of a Git LFS pointer count as equal; the output
of other filters counts as a change.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Iterable
from typing import BinaryIO

from smspec.source.frozen import dataclass
from smspec.source.real_file import open_below
from smspec.workspace.git import Entry, GitFailed, Repository, StagedFile, checked_repository

_LINK = "120000"
_SUBMODULE = "160000"
_REGULAR = ("100644", "100755")
_ATTRIBUTES = ".gitattributes"
_SHA1 = 40
_CHUNK = 1 << 20
_LONGEST_TEXT = 64 << 20
_32_BITS = 0xFFFFFFFF
_SAME, _CHANGED, _CONVERTED = "same", "changed", "converted"
_LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Paths that differ from a commit: of files that it or the index has, of submodules, and of files of neither."""

    tracked: tuple[str, ...]
    submodules: tuple[str, ...]
    untracked: tuple[str, ...]


def changes_since(repository: Repository, commit: str) -> Changes:
    """Return what differs in the working tree, removed files too, but no ignored ones. Raise `GitFailed`."""
    base = {entry.path: entry for entry in repository.entries(commit)}
    staged = {file.path: file for file in repository.staged()}
    untracked = {path for path in repository.untracked() if path not in base}
    tree = _WorkingTree(repository, staged)
    changed: list[str] = []
    submodules: list[str] = []
    converted: list[str] = []
    for path in sorted(base.keys() | staged.keys()):
        then, now = base.get(path), staged.get(path)
        if _SUBMODULE in (then.mode if then else "", now.mode if now else ""):
            if then is None or now is None or then.mode != now.mode or tree.submodule(path, now) != then.object:
                submodules.append(path)
            continue
        found = tree.compared(path, then)
        if found is _CONVERTED:
            converted.append(path)
        elif found is _CHANGED:
            changed.append(path)
    converts = LineEndings(repository, base.values()).converted(converted) if converted else set()
    changed += [path for path in converted if path not in converts]
    return Changes(tracked=tuple(sorted(changed)), submodules=tuple(submodules), untracked=tuple(sorted(untracked)))


class LineEndings:
    """Which text files have other line endings in the working tree than in the objects of a commit.

    Only those of the index that are the same in the commit, and only if all `.gitattributes` are, too: who changes
    these changes what is in the working tree.
    """

    def __init__(self, repository: Repository, base: Iterable[Entry]) -> None:
        self._repository = repository
        self._base = {entry.path: entry.object for entry in base}
        self._index: dict[str, str] | None = None

    def converted(self, paths: Iterable[str]) -> set[str]:
        """Return those of some paths of text in whose line endings git converts."""
        if self._index is None:
            self._index = {file.path: file.object for file in self._repository.staged()}
        base, index = self._base, self._index
        wanted = [path for path in paths if path in base and index.get(path) == base[path]]
        if not wanted or _attributes(base) != _attributes(index):
            return set()
        by_default = self._repository.setting("core.autocrlf").lower() in ("true", "input", "yes", "on", "1")
        found = self._repository.attributes(wanted, ("text", "eol"))
        return {path for path in wanted if _is_converted(found.get(path, {}), by_default)}

    def checked_out(self, contents: dict[str, bytes]) -> dict[str, bytes]:
        """Return the contents of files of the commit with the line endings that they have in the working tree."""
        here = {path: text for path in contents if (text := self._other_endings(path, contents[path])) is not None}
        converted = self.converted(here) if here else set()
        return {path: here[path] if path in converted else content for path, content in contents.items()}

    def _other_endings(self, path: str, stored: bytes) -> bytes | None:
        """Return a file of the working tree if it differs from an object in line endings only."""
        if b"\n" not in stored or len(stored) > _LONGEST_TEXT:
            return None
        try:
            with open(open_below(self._repository.top, path.split("/")), "rb") as file:
                if not len(stored) < os.fstat(file.fileno()).st_size <= 2 * len(stored):
                    return None
                content = file.read(2 * len(stored) + 1)
        except (OSError, ValueError):
            return None
        return content if unix_text(content) == stored else None


def _attributes(files: dict[str, str]) -> set[tuple[str, str]]:
    return {(path, files[path]) for path in files if path.rpartition("/")[2] == _ATTRIBUTES}


def _is_converted(attributes: dict[str, str], by_default: bool) -> bool:
    text, eol = attributes.get("text", "unspecified"), attributes.get("eol", "unspecified")
    if text == "unset":
        return False
    return text in ("set", "auto") or eol in ("lf", "crlf") or by_default


class _WorkingTree:
    """The files of a working tree, with what the index knows of them."""

    def __init__(self, repository: Repository, staged: dict[str, StagedFile]) -> None:
        self._repository = repository
        self._staged = staged
        self._written = repository.index_time()
        self._has_modes = repository.setting("core.fileMode").lower() != "false"

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
        if now is not None and self._is_untouched(state, now) and now.object == then.object:
            return _SAME if now.mode == then.mode else _CHANGED
        if not self._has_type(state, then.mode):
            return _CHANGED
        return self._content(path, then, now is not None and now.object == then.object)

    def submodule(self, path: str, now: StagedFile) -> str:
        """Return the commit of a submodule: the one that is checked out, or else that of the index."""
        directory = os.path.join(self._repository.top, path)
        try:
            is_here = os.path.lexists(os.path.join(directory, ".git"))
            return checked_repository(directory).commit("HEAD") if is_here else now.object
        except GitFailed:
            return ""

    def _state(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(os.path.join(self._repository.top, path))
        except (OSError, ValueError):
            return None

    def _is_untouched(self, state: os.stat_result, now: StagedFile) -> bool:
        """Return whether a file is as git wrote it; one of the same moment as the index may have changed since."""
        here = (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino & _32_BITS)
        return here == now.state and max(now.state[1:3]) < self._written

    def _has_type(self, state: os.stat_result, mode: str) -> bool:
        if mode == _LINK:
            return stat.S_ISLNK(state.st_mode)
        if mode not in _REGULAR or not stat.S_ISREG(state.st_mode):
            return False
        return not self._has_modes or bool(state.st_mode & stat.S_IXUSR) == (mode == _REGULAR[1])

    def _content(self, path: str, then: Entry, is_staged: bool) -> str:
        """Read a file to compare it with an object; one below a link is not what git tracks."""
        try:
            if then.mode == _LINK:
                link = os.path.join(self._repository.top, path)
                if os.path.realpath(os.path.dirname(link)) != os.path.dirname(link):
                    return _CHANGED
                return _SAME if _hash(then.object, os.fsencode(os.readlink(link))) == then.object else _CHANGED
            with open(open_below(self._repository.top, path.split("/")), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if _hashed(then.object, size, file) == then.object:
                    return _SAME
                if not is_staged:
                    return _CHANGED
                file.seek(0)
                pointer = _LFS.format(_sha256(file), size).encode()
                if _hash(then.object, pointer) == then.object:
                    return _SAME
                file.seek(0)
                content = file.read(_LONGEST_TEXT + 1)
        except (OSError, ValueError):
            return _CHANGED
        text = unix_text(content) if len(content) <= _LONGEST_TEXT else content
        return _CONVERTED if text != content and _hash(then.object, text) == then.object else _CHANGED


def unix_text(content: bytes) -> bytes:
    """Return a text with the line endings that git stores; what is not text, as it is."""
    return content if b"\0" in content else content.replace(b"\r\n", b"\n")


def _hash(name: str, content: bytes) -> str:
    return _hashed(name, len(content), io.BytesIO(content))


def _hashed(name: str, size: int, file: BinaryIO) -> str:
    """Return the name of an object with some content, by the algorithm of the given name."""
    # The name of an object, not a proof of who wrote it: git detects forged SHA-1 when it stores an object.
    digest = (hashlib.sha1 if len(name) == _SHA1 else hashlib.sha256)(b"blob %d\0" % size, usedforsecurity=False)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _sha256(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()
