"""The files of a revision, extracted to a temporary directory as far as specs need them.

They are as git would check them out today: a file that git converts is as git wrote it in the working tree.
A tree may come from anyone. Entries that could lead out of the directory are skipped: names with ``..``, links to
elsewhere, paths below a link. A submodule is read from its own repository, if that is here and has the commit. Other
submodules and files in Git LFS are not part of a revision; that is reported.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import takewhile

from smspec.source import ListedFile, Listing
from smspec.source.frozen import replace
from smspec.source.real_file import MOST_LINKS, is_below, open_below
from smspec.spec.lock import DIRECTORY as LOCK_DIRECTORY
from smspec.workspace.boundary_search import SETTINGS
from smspec.workspace.git import LINK, SUBMODULE, Entry, GitFailed, GitObjects, Repository, submodule_of
from smspec.workspace.path_targets import directories_of
from smspec.workspace.source_walk import MARKERS
from smspec.workspace.working_tree import ChangedFiles, Conversions

_EXECUTABLE = "100755"
_FORMS = {SUBMODULE: "submodule", _EXECUTABLE: "executable"}
_LFS = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[0-9]-.*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n"
)
_LARGEST_POINTER = 1024
_OF_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.IGNORECASE)  # some file systems have more names for `.git`
_ALWAYS = (".yaml", ".yml", ".gitignore", ".dockerignore", *SETTINGS, *MARKERS)
_MOST_LINK_BYTES = 4096


class Revision:
    """A revision of a repository, in ``directory``. ``name`` is the name that the user typed.

    ``changed``: what changed since it, if that is known. ``without``: places of specs that only `bring` extracts.
    """

    def __init__(
        self,
        repository: Repository,
        objects: GitObjects,
        name: str,
        directory: str,
        changed: ChangedFiles | None = None,
        without: AbstractSet[str] = frozenset(),
    ) -> None:
        self.name = name
        self.directory = os.path.realpath(directory)
        self._repository = repository
        self._objects = objects
        self._files: dict[str, Entry] = {}
        self.forms: dict[str, str] = {}
        """The form of each file of the revision: ``file``, ``executable``, ``submodule``, or ``link to TARGET``."""
        self.without = without
        self._submodules: dict[str, str] = {}
        self._modules: dict[str, Revision] = {}
        self._here: set[str] = set()
        self._brought: set[str] = set()
        self._directories: set[str] | None = None
        self._lfs: dict[str, tuple[str, int]] = {}
        commit = repository.commit(name) if changed is None else changed.commit
        entries = list(repository.entries(commit)) if changed is None else changed.entries
        self._conversions = Conversions(repository, commit, entries)
        links = self._sort(entries)
        self._names = sorted(self._files)
        # The search for .gitignore files of a working tree ends here.
        open(os.path.join(self.directory, ".git"), "wb").close()
        always = (path for path in self._files if path.lower().endswith(_ALWAYS) or _is_of_lock(path))
        self._bring(path for path in always if path not in without)
        self._link(links)
        for path, commit in self._submodules.items():
            self._enter(path, commit)
        for link in links:
            if link.path.lower().endswith(_ALWAYS):
                self.bring(os.path.join(self.directory, link.path))  # to a file with any name

    def _enter(self, path: str, commit: str) -> None:
        """Extract a submodule, a repository of its own, if its commit is here."""
        directory = os.path.join(self.directory, *path.split("/"))
        try:
            repository = submodule_of(self._repository, path)
            repository.commit(commit)
            os.makedirs(directory, exist_ok=True)
            module = Revision(repository, self._objects.of_submodule(repository), commit, directory)
        except GitFailed:
            return
        with open(os.path.join(directory, ".git"), "w", encoding="utf-8") as file:
            file.write(f"gitdir: {os.path.join(self.directory, '.git', 'modules', path)}\n")
        self._modules[path] = module
        self.forms.update((f"{path}/{inner}", form) for inner, form in module.forms.items())

    def path(self, path: str) -> str:
        """Return the path of a file of the working tree in this revision, whether it exists or not.

        Raise `GitFailed` for one that is not in the working tree.
        """
        inside = place_below(path, self._repository.top)
        if inside == os.pardir or inside.startswith(os.path.join(os.pardir, "")):
            raise GitFailed(f"`{path}` is not in the git repository `{self._repository.top}`")
        return os.path.join(self.directory, inside) if inside != os.curdir else self.directory

    def root(self, directory: str) -> str:
        """Return the boundary directory in this revision: all of the revision, if the boundary is above that."""
        try:
            return self.path(directory)
        except GitFailed:
            return self.directory

    def unexecuted_filters(self) -> dict[str, str]:
        """Return the filters of extracted files that are as git stores them, because smspec executes none."""
        found = dict(self._conversions.unexecuted)
        for path, module in self._modules.items():
            found.update((f"{path}/{name}", used) for name, used in module.unexecuted_filters().items())
        return found

    def bring(self, path: str) -> None:
        """Extract a file, or all files below a directory; ``path`` is in the revision's directory."""
        if "\0" in path:
            return
        inside = os.path.relpath(os.path.realpath(path), self.directory).replace(os.sep, "/")
        if inside in self._files:
            self._bring([inside])
        elif not inside.startswith("../") and inside != ".." and inside not in self._brought:
            # Jobs share sources, and each names its own.
            if not self._modules:
                self._brought.add(inside)
            prefix = "" if inside == "." else f"{inside}/"
            following = map(self._names.__getitem__, range(bisect_left(self._names, prefix), len(self._names)))
            self._bring(takewhile(lambda name: name.startswith(prefix), following))
            for name, module in self._modules.items():
                if is_below(name, inside) or inside == ".":
                    module.bring(module.directory)
                elif is_below(inside, name):
                    module.bring(path)

    def submodules(self, path: str) -> tuple[str, ...]:
        """Return the submodules below a directory of the revision whose contents are unknown."""
        inside = os.path.relpath(os.path.realpath(path), self.directory).replace(os.sep, "/")
        prefix = "" if inside == "." else f"{inside}/"
        known = ((name, module.submodules(module.directory)) for name, module in self._modules.items())
        unknown = [*(name for name in self._submodules if name not in self._modules)]
        unknown += [f"{name}/{inner}" for name, inners in known for inner in inners]
        return tuple(name for name in unknown if f"{name}/".startswith(prefix))

    def listing(self, listing: Listing) -> Listing:
        """Return a listing in which files of Git LFS are as in a working tree: a pointer contains the digest."""
        return Listing(files=tuple(map(self._resolved, listing.files)))

    def _resolved(self, file: ListedFile) -> ListedFile:
        inside = os.path.relpath(file.origin, self.directory).replace(os.sep, "/")
        if inside not in self._lfs:
            module = next((module for name, module in self._modules.items() if is_below(inside, name)), None)
            return file if module is None else module._resolved(file)
        digest, size = self._lfs[inside]
        return replace(file, sha256=digest, size=size)

    def _sort(self, entries: Iterable[Entry]) -> list[Entry]:
        """Keep the entries whose paths are valid; return the links among them."""
        kept = {entry.path: entry for entry in entries if _is_inside(entry.path)}
        links = []
        for path, entry in kept.items():
            above = path
            while "/" in above and (above := above.rpartition("/")[0]) not in kept:
                pass
            if above != path and above in kept:
                continue  # its path is below a link or a file
            self.forms[path] = _FORMS.get(entry.mode, "file")
            if entry.mode == LINK:
                links.append(entry)
            elif entry.mode == SUBMODULE:
                self._submodules[path] = entry.object
            else:
                self._files[path] = entry
        return links

    def _bring(self, paths: Iterable[str]) -> None:
        wanted = [path for path in paths if path not in self._here]
        found = list(self._objects.contents(self._files[path].object for path in wanted))
        pointers: dict[str, tuple[str, int]] = {}
        for path, content in self._conversions.checked_out(dict(zip(wanted, found, strict=True))).items():
            target = os.path.join(self.directory, *path.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            mode = 0o755 if self._files[path].mode == _EXECUTABLE else 0o644
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(target, flags, mode), "wb") as file:
                file.write(content)
            self._here.add(path)
            pointer = _pointer(content)
            if pointer:
                pointers[path] = pointer[1].decode(), int(pointer[2])
        here = {path: self._has_pointer(path) for path in pointers}
        self._lfs.update((path, pointers[path]) for path in self._conversions.in_lfs(here))

    def _has_pointer(self, path: str) -> bool:
        """Return whether the working tree has a pointer, too, as in a checkout without Git LFS."""
        try:
            with open(open_below(self._repository.top, path.split("/")), "rb") as file:
                return _pointer(file.read(_LARGEST_POINTER)) is not None
        except (OSError, ValueError):
            return False

    def _link(self, links: list[Entry]) -> None:
        """Create the links that stay inside. Directories are real, so each link can be checked by its target alone."""
        contents = self._objects.contents(entry.object for entry in links)
        known = {
            entry.path: os.fsdecode(content[: _MOST_LINK_BYTES + 1])
            for entry, content in zip(links, contents, strict=True)
        }
        for path, written in known.items():
            self.forms[path] = f"link to {written[:_MOST_LINK_BYTES]}"
            target = written if _stays(path, written) else self._rewritten(path, known)
            if target is not None and len(os.fsencode(target)) <= _MOST_LINK_BYTES and "\0" not in target:
                link = os.path.join(self.directory, *path.split("/"))
                os.makedirs(os.path.dirname(link), exist_ok=True)
                os.symlink(target, link)

    def _rewritten(self, path: str, links: Mapping[str, str]) -> str | None:
        """Return a target that stays inside, for a link with `..` after a step; None if it leads out, or to nothing.

        The step may be a directory that no file has been extracted to, or a link.
        """
        if self._directories is None:
            self._directories = {above for name in self.forms for above in directories_of(name)}
        here, ahead, most = path.split("/")[:-1], [*reversed(links[path].split("/"))], MOST_LINKS
        if links[path].startswith("/"):
            return None
        while ahead:
            step = ahead.pop()
            if step == "..":
                place = "/".join(here)
                if place not in self._directories and not any(is_below(place, name) for name in self._submodules):
                    return None
                here.pop()
            elif step not in ("", "."):
                target = links.get("/".join((*here, step)))
                if target is None:
                    here.append(step)
                elif most == 0 or target.startswith("/"):
                    return None
                else:
                    most -= 1
                    ahead += reversed(target.split("/"))
        found = os.path.relpath("/".join(here) or ".", os.path.dirname(path) or ".")
        return found if _stays(path, found) else None


def place_below(path: str, top: str) -> str:
    """Return the path of a file from a directory without links in its own path; links below the directory remain.

    Two paths that lead to one file may still be two specs: what a spec names is relative to its path.
    """
    whole = os.path.abspath(path)
    if os.path.realpath(path) != os.path.realpath(whole):
        whole = os.path.realpath(path)  # `..` after a link
    if not is_below(whole, top):
        steps = whole.split(os.sep)
        ways = (os.sep.join(steps[:number]) or os.sep for number in range(1, len(steps) + 1))
        # A link outside leads into the directory.
        way = next((way for way in ways if is_below(os.path.realpath(way), top)), whole)
        whole = os.path.normpath(os.path.join(os.path.realpath(way), os.path.relpath(whole, way)))
    return os.path.relpath(whole, top)


def _pointer(content: bytes) -> re.Match[bytes] | None:
    return _LFS.fullmatch(content) if len(content) < _LARGEST_POINTER else None


def _is_of_lock(path: str) -> bool:
    """Return whether a file has locked packages: its name is known only when a spec and its lock have been read."""
    return path.rpartition("/")[0].rpartition("/")[2] == LOCK_DIRECTORY


def _is_inside(path: str) -> bool:
    """Return whether a path is one that git itself would check out."""
    steps = path.split("/")
    if "\0" in path or not {"", ".", ".."}.isdisjoint(steps):
        return False
    is_other = path.isascii() and "git" not in path.lower()  # most paths
    return is_other or not any(map(_OF_GIT.fullmatch, steps))


def _stays(path: str, target: str) -> bool:
    """Return whether a link stays in its tree: up first, no further than to the top, then down."""
    if not target or target.startswith("/"):
        return False
    steps = [step for step in target.split("/") if step not in ("", ".")]
    ups = 0
    while ups < len(steps) and steps[ups] == "..":
        ups += 1
    return ".." not in steps[ups:] and ups <= path.count("/") and not any(map(_OF_GIT.fullmatch, steps))
