"""The git repository of specs: its objects, index, and the state of its working tree, read by plumbing commands.

Nothing is checked out, converted, or fetched, and no other program runs (`source/git_command.py`). The repository is
the one that the boundary of the specs is about: what a directory of a working tree contains cannot be another one.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import NamedTuple

from smspec.source.git_command import MOST_PROCESSOR_SECONDS, GitEndless, GitMissing, GitWaits, run_git, start_git
from smspec.source.real_file import is_below
from smspec.workspace.boundary_search import repository_above

_TURN = 50
"""Names that are requested at once: they fit in the smallest pipe, so neither side waits for the other."""

LINK = "120000"

SUBMODULE = "160000"
"""The mode of a submodule: its object is a commit of another repository."""

FOR_CHECKOUTS = (".gitattributes", ".gitmodules", ".lfsconfig")
"""Names of files that decide what else is in a new checkout."""

_COMMIT = r"[0-9a-f]{40}|[0-9a-f]{64}"
_ABBREVIATED = r"[0-9a-f]{4,64}"
_STAGED = re.compile(
    rb"(?P<tag>[^ ]) (?P<mode>[0-7]{6}) (?P<object>[0-9a-f]{40,64}) (?P<stage>[0-3])\t(?P<path>[^\0]+)\0"
    rb"  ctime: (?P<ctime>\d+:\d+)\n  mtime: (?P<mtime>\d+:\d+)\n  dev: \d+\tino: (?P<inode>\d+)\n"
    rb"  uid: \d+\tgid: \d+\n  size: (?P<size>\d+)\tflags: [0-9a-f]+\n"
)
_PROMISED = re.compile(r"remote\..*\.promisor|extensions\.partialclone", re.DOTALL)
_LONGEST_PATH = 8192
_NAMESPACES = ("refs/", "refs/tags/", "refs/heads/", "refs/remotes/")
"""Where git looks for a name. It takes the first, so a tag `main` would hide the branch `main`."""


class GitFailed(Exception):
    """git is missing or fails; the text explains why."""


class AmbiguousRevision(GitFailed):
    """Refs with different commits have the name of a revision."""


class Entry(NamedTuple):  # a repository has thousands of them
    """A file of a revision: its content is the object; ``mode`` as git writes it, ``120000`` for a link."""

    path: str
    mode: str
    object: str


class StagedFile(NamedTuple):
    """A file of the index. ``state``: size, times, and inode of the file in the working tree when git last saw it."""

    path: str
    mode: str
    object: str
    is_merged: bool
    is_sparse: bool
    state: tuple[int, int, int, int]


class GitObjects:
    """The objects of a repository, while the git process runs; those of its submodules end with them."""

    def __init__(self, process: subprocess.Popen[bytes], repository: Repository, inner: ExitStack) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._asked, self._told = process.stdin, process.stdout
        self._repository = repository
        self._inner = inner

    def of_submodule(self, repository: Repository) -> GitObjects:
        """Return the objects of a submodule. Raise `GitFailed`."""
        return self._inner.enter_context(repository.objects())

    def contents(self, objects: Iterable[str]) -> Iterator[bytes]:
        """Yield the content of all objects, in order. Raise `GitFailed` if one is missing."""
        names = list(objects)
        for start in range(0, len(names), _TURN):
            turn = names[start : start + _TURN]
            self._asked.write("".join(f"{name}\n" for name in turn).encode())
            self._asked.flush()
            for name in turn:
                head = self._told.readline().split()
                if len(head) != 3 or head[1] != b"blob":
                    raise GitFailed(self._repository.lacks(name))
                content = self._told.read(int(head[2]))
                self._told.read(1)
                yield content


class Repository:
    """A repository with a working tree. ``top`` has no links in it. The index is read once."""

    def __init__(self, top: str) -> None:
        self.top = top

    def commit(self, revision: str) -> str:
        """Return the id of the commit for a revision. Raise `GitFailed`, also for a name of two different commits."""
        # No name of a branch or tag begins with a hyphen; git before 2.30 does not have `rev-parse --end-of-options`.
        if not revision or "\0" in revision or revision.startswith("-"):
            raise GitFailed(f"`{revision}` is not a revision")
        self._check_one_meaning(revision)
        try:
            commit = self._text("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").strip()
        except GitFailed:
            commit = ""
        if not re.fullmatch(_COMMIT, commit):
            raise GitFailed(
                f"no revision `{revision}` in `{self.top}`; if this is a shallow clone, run `git fetch --unshallow`"
            )
        return commit

    def parents(self, commit: str) -> list[str]:
        """Return the ids that a commit names as its parents, whether or not they are here."""
        head = self._text("cat-file", "commit", commit).partition("\n\n")[0]
        return [line.removeprefix("parent ") for line in head.splitlines() if line.startswith("parent ")]

    def entries(self, commit: str) -> Iterator[Entry]:
        """Yield every file, link, and submodule of a commit."""
        try:
            listed = self._bytes("ls-tree", "-r", "-z", "--full-tree", commit)
        except GitFailed as failure:
            raise GitFailed(self.lacks(commit) if self.is_partial() else str(failure)) from None
        for line in listed.split(b"\0"):
            if line:
                facts, _, path = line.partition(b"\t")
                mode, _, name = facts.decode("ascii").split(" ")
                yield Entry(os.fsdecode(path), mode, name)

    @cached_property
    def staged(self) -> tuple[StagedFile, ...]:
        """All files, links, and submodules of the index. Raise `GitFailed` if it cannot be read."""
        listed = self._bytes("ls-files", "-z", "--stage", "--debug", "-t")
        files: list[StagedFile] = []
        end = 0
        for found in _STAGED.finditer(listed):
            if found.start() != end:
                break
            end = found.end()
            times = _nanoseconds(found["mtime"]), _nanoseconds(found["ctime"])
            files.append(
                StagedFile(
                    path=os.fsdecode(found["path"]),
                    mode=found["mode"].decode(),
                    object=found["object"].decode(),
                    is_merged=found["stage"] == b"0",
                    is_sparse=found["tag"] in b"Ss",
                    state=(int(found["size"]), *times, int(found["inode"])),
                )
            )
        if end != len(listed):
            raise GitFailed("cannot read what this version of git prints of the index")
        return tuple(files)

    def tracked(self) -> list[str]:
        """Return the paths of all files, links, and submodules of the index."""
        return [os.fsdecode(path) for path in self._bytes("ls-files", "-z").split(b"\0") if path]

    def untracked(self) -> list[str]:
        """Return the paths of files that git neither tracks nor ignores; one path for a repository among them."""
        listed = self._bytes("ls-files", "--others", "--exclude-standard", "-z")
        return [os.fsdecode(path).rstrip("/") for path in listed.split(b"\0") if path]

    def attributes(self, paths: Iterable[str], names: Iterable[str], index: str = "") -> dict[str, dict[str, str]]:
        """Return the values of attributes for paths; by a file of `write_index`, those of its commit."""
        asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
        which = ("--cached",) if index else ()
        words = self._bytes("check-attr", *which, "--stdin", "-z", *names, stdin=asked, index=index).split(b"\0")
        found: dict[str, dict[str, str]] = {}
        for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=False):
            found.setdefault(os.fsdecode(path), {})[name.decode()] = value.decode("utf-8", "replace")
        return found

    def write_index(self, commit: str, index: str) -> None:
        """Write an index that has the files of a commit to a file of its own."""
        self._bytes("read-tree", commit, index=index)

    @cached_property
    def _settings(self) -> dict[str, str]:
        return dict(self.settings())

    def settings(self, *where: str) -> list[tuple[str, str]]:
        """Return the settings, or those of a file, by their names as git prints them; none if git cannot read any."""
        try:
            listed = self._text("config", *where, "--list", "-z").split("\0")
        except GitFailed:
            return []
        return [(name, value) for name, _, value in (line.partition("\n") for line in listed) if name]

    def setting(self, name: str) -> str:
        """Return a setting, whose name is in small letters; empty if there is none."""
        return self._settings.get(name, "").strip()

    def has_filters(self) -> bool:
        """Return whether a filter other than that of Git LFS is configured."""
        return any(name.startswith("filter.") and not name.startswith("filter.lfs.") for name in self._settings)

    def converts(self) -> bool:
        """Return whether settings may let files differ from what git stores, in their lines or modes."""
        usual = (("core.autocrlf", "false"), ("core.eol", "lf"), ("core.filemode", "true"))
        return any(self._settings.get(name, value) != value for name, value in usual)

    @cached_property
    def index_time(self) -> int:
        """Return when the index was written, in nanoseconds; 0 without one."""
        try:
            path = self._text("rev-parse", "--git-path", "index").removesuffix("\n")
            return os.stat(os.path.join(self.top, path)).st_mtime_ns
        except (GitFailed, OSError):
            return 0

    def is_shallow(self) -> bool:
        """Return whether the history ends before its first commit, as in a clone with `--depth`. The Action asks."""
        return self._text("rev-parse", "--is-shallow-repository").strip() == "true"

    def is_partial(self) -> bool:
        """Return whether git would fetch missing objects from a remote repository."""
        return any(map(_PROMISED.fullmatch, self._settings))

    def lacks(self, name: str) -> str:
        """Return the sentence about a missing object."""
        if self.is_partial():
            return (
                f"this partial clone has no object {name}, and smspec fetches nothing: run `git fetch --refetch "
                "--no-filter`, or clone without `--filter`"
            )
        return f"git has no object {name}: is the clone complete? `git fsck` lists what is missing"

    def remotes(self) -> list[str]:
        """Return the names of the remote repositories."""
        return self._text("remote").splitlines()

    def remote_url(self, name: str) -> str:
        """Return the address of a remote repository, as git would contact it. Raise `GitFailed`."""
        return self._text("remote", "get-url", "--", name).removesuffix("\n")

    @contextmanager
    def objects(self) -> Iterator[GitObjects]:
        """Start a process that reads objects, and end it afterwards.

        Starting git takes longer than reading a source.
        """
        with _faults_of(self.top):
            process = start_git(["cat-file", "--batch"], self.top, stderr=subprocess.DEVNULL)
        with process, ExitStack() as inner:
            try:
                yield GitObjects(process, self, inner)
            finally:
                if process.poll() is None:
                    process.kill()

    def _check_one_meaning(self, revision: str) -> None:
        """Raise `GitFailed` if refs of different commits have the name: git would take one without a word."""
        name = re.split(r"[~^:]|@\{", revision, maxsplit=1)[0]
        if name in ("", "@", "HEAD") or re.search(r"[*?\[\\\s]", name):
            return
        refs = [f"{space}{name}" for space in _NAMESPACES] + [f"refs/remotes/{name}/HEAD"]
        refs += [name] if name.startswith("refs/") else []
        listed = self._text("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", *refs)
        found = {ref: names[-1] for ref, *names in map(str.split, listed.splitlines()) if ref in refs}
        if len(set(found.values())) > 1:
            shown = " and ".join(f"`{ref}`" for ref in sorted(found))
            raise AmbiguousRevision(f"`{name}` is ambiguous in `{self.top}`: {shown} are different; name one of them")
        if found and re.fullmatch(_ABBREVIATED, name, re.IGNORECASE) and 7 <= len(name) < 40:
            commits = set(self._text("rev-parse", f"--disambiguate={name}").split()) - set(found.values())
            if any(self._text("cat-file", "-t", commit).strip() == "commit" for commit in commits):
                raise AmbiguousRevision(
                    f"`{name}` is ambiguous in `{self.top}`: `{min(found)}`, or a commit of that id"
                )

    def _text(self, *words: str) -> str:
        return self._bytes(*words).decode("utf-8", "surrogateescape")

    def _bytes(self, *words: str, stdin: bytes = b"", index: str = "") -> bytes:
        return _output(words, self.top, stdin, index)


def repository_of(directory: str) -> Repository:
    """Return the repository whose working tree contains a directory. Raise `GitFailed`.

    Its top is the boundary of the specs there: the nearest directory above with `.git`, whose content no commit can
    change. If git finds another repository, such as one of ordinary files that look like it, none is used.
    """
    top = repository_above(directory)
    if top is None:
        raise GitFailed(f"`{directory}` is not in a git repository with a working tree")
    found = checked_repository(os.path.realpath(top))
    here = repository_above(os.curdir)
    if here is not None and os.path.realpath(here) != found.top and is_below(found.top, os.path.realpath(here)):
        _check_not_part_of(found, os.path.realpath(here))
    return found


def checked_repository(top: str) -> Repository:
    """Return the repository of `.git` in a directory, a path without links. Raise `GitFailed`."""
    found = _output(["rev-parse", "--show-toplevel", "--absolute-git-dir"], top).decode("utf-8", "surrogateescape")
    # A path may have a line break.
    shown = top if found.startswith(f"{top}\n") else found.partition("\n")[0]
    own = found[len(shown) + 1 :].removesuffix("\n")
    if os.path.realpath(shown) != top:
        raise GitFailed(f"the working tree of `{top}` is `{shown}` for git: remove `core.worktree` from its settings")
    marker, own = os.path.join(top, ".git"), os.path.realpath(own)
    if not _is_named_by(marker, own) or (is_below(own, top) and not is_below(own, marker)):
        raise GitFailed(f"git reads `{own}` for `{top}`, which is not what `{marker}` is for")
    return Repository(top)


def submodule_of(repository: Repository, path: str) -> Repository:
    """Return the repository of a submodule that is checked out. Raise `GitFailed`."""
    directory = os.path.join(repository.top, path)
    if not os.path.lexists(os.path.join(directory, ".git")):
        raise GitFailed(f"the submodule `{path}` is not checked out")
    return checked_repository(directory)


def _is_named_by(marker: str, own: str) -> bool:
    """Return whether `.git`, a directory, a link, or a file with a path, leads to a directory."""
    if os.path.isdir(marker):
        return os.path.realpath(marker) == own
    try:
        with open(marker, "rb") as file:
            written = os.fsdecode(file.read(_LONGEST_PATH).removeprefix(b"gitdir: ").rstrip(b"\r\n"))
    except OSError:
        return False
    return os.path.realpath(os.path.join(os.path.dirname(marker), written)) == own


def _check_not_part_of(found: Repository, outer: str) -> None:
    """Raise `GitFailed` for a repository that a commit of the outer one has put there, such as a submodule.

    Who writes the outer one chooses its history: what is called `main` there may be the change under review.
    """
    inside = os.path.relpath(found.top, outer)
    try:
        repository = checked_repository(outer)
        tracked = {file.path for file in repository.staged}
        tracked.update(entry.path for entry in repository.entries(repository.commit("HEAD")))
    except GitFailed:
        return  # not a working tree, or one without a commit
    if any(is_below(inside, path) or is_below(path, inside) for path in tracked):
        raise GitFailed(
            f"`{found.top}` is a git repository inside `{outer}`, which tracks it: run smspec there to use its history"
        )


def _output(words: Sequence[str], directory: str, stdin: bytes = b"", index: str = "") -> bytes:
    with _faults_of(directory):
        done = run_git(words, directory, stdin=stdin, index=index)
    if done.returncode:
        raise GitFailed(_reason(done.stderr, directory) or f"git {words[0]} exited with status {done.returncode}")
    return done.stdout


@contextmanager
def _faults_of(directory: str) -> Iterator[None]:
    try:
        yield
    except GitMissing as fault:
        raise GitFailed(str(fault)) from None
    except GitWaits:
        raise GitFailed(
            f"git waits for another process in `{directory}`: look for a pipe among `.gitignore`, `.gitattributes`, "
            "and the files in `.git`"
        ) from None
    except GitEndless:
        raise GitFailed(
            f"git takes more than {MOST_PROCESSOR_SECONDS:.0f} seconds of processor time in `{directory}`: look for a "
            "pattern with many `**` in `.gitignore` and `.gitattributes`"
        ) from None
    except FileNotFoundError:
        raise GitFailed(f"cannot find directory `{directory}`") from None
    except NotADirectoryError:
        raise GitFailed(f"`{directory}` is not a directory") from None


def _reason(err: bytes, directory: str) -> str:
    text = err.decode("utf-8", "replace").strip()
    if "dubious ownership" in text or "unsafe repository" in text:
        return (
            f"git does not trust `{directory}`, which belongs to a different user: "
            f"if you do, run `git config --global --add safe.directory {shlex.quote(directory)}`"
        )
    line = text.splitlines()[0].removeprefix("fatal: ") if text else ""
    return f"git cannot read `{directory}`: {line}" if line else ""


def _nanoseconds(written: bytes) -> int:
    seconds, _, rest = written.partition(b":")
    return int(seconds) * 1_000_000_000 + int(rest)
