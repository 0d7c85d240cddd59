"""Run git: nothing is checked out, no hook or pager runs, nothing is fetched.

Only `Repository.changes` and `Repository.changed_since` run the filters that the user has configured.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from smspec.source.frozen import dataclass

# Variables of a hook, or of the caller, about a different repository. The one to use is that of the specs.
_PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
)
_OWN_OBJECTS = "GIT_OBJECT_DIRECTORY"
_HARMLESS = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone would fetch missing objects before git 2.45, despite the settings above
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C.UTF-8",
}


_TURN = 50
"""Names that are requested at once: they fit in the smallest pipe, so neither side waits for the other."""


class GitFailed(Exception):
    """git is missing or fails; the text explains why."""


class GitMissing(GitFailed):
    """There is no git on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file of a revision: its content is the object; ``mode`` as git writes it, ``120000`` for a link."""

    path: str
    mode: str
    object: str


class Objects:
    """The objects of a repository, while the git process runs."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._asked, self._told = process.stdin, process.stdout

    def contents(self, objects: Iterable[str]) -> Iterator[bytes]:
        """Yield the content of all objects, in order. Raise `GitFailed` if one is missing."""
        names = list(objects)
        for start in range(0, len(names), _TURN):
            turn = names[start : start + _TURN]
            self._asked.write("".join(f"{name}\n" for name in turn).encode())
            self._asked.flush()
            for name in turn:
                head = self._told.readline().split()
                if len(head) != 3:
                    raise GitFailed(f"git has no object {name}: is the clone complete?")
                content = self._told.read(int(head[2]))
                self._told.read(1)
                yield content


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with a working tree. ``top`` has no links in it."""

    top: str
    environment: dict[str, str]

    def commit(self, revision: str) -> str:
        """Return the id of the commit for a revision. Raise `GitFailed`."""
        if not revision or "\0" in revision:
            raise GitFailed(f"`{revision}` is not a revision")
        try:
            asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
            return self._text(*asked).strip()
        except GitFailed:
            raise GitFailed(
                f"no revision `{revision}` in `{self.top}`; if this is a shallow clone, run `git fetch --unshallow`"
            ) from None

    def entries(self, commit: str) -> Iterator[Entry]:
        """Yield every file, link, and submodule of a commit."""
        for line in self._bytes("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            if line:
                facts, _, path = line.partition(b"\t")
                mode, _, name = facts.decode("ascii").split(" ")
                yield Entry(path=os.fsdecode(path), mode=mode, object=name)

    def remotes(self) -> list[str]:
        """Return the names of the remote repositories."""
        return self._text("remote").splitlines()

    def remote_url(self, name: str) -> str:
        """Return the address of a remote repository, as git would contact it. Raise `GitFailed`."""
        return self._text("remote", "get-url", "--", name).removesuffix("\n")

    def changes(self) -> tuple[list[str], list[str]]:
        """Return the paths of changed files that git tracks, and of files that it neither tracks nor ignores."""
        words = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames")
        entries = [entry for entry in self._bytes(*words).split(b"\0") if entry]
        changed = [os.fsdecode(entry[3:]) for entry in entries if not entry.startswith(b"?? ")]
        return changed, [os.fsdecode(entry[3:]) for entry in entries if entry.startswith(b"?? ")]

    def changed_since(self, commit: str) -> list[str]:
        """Return the paths of files of the working tree that differ from a commit, removed and untracked ones too.

        Ignored files are not among them. A submodule is one path, which changed if its commit did.
        """
        words = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
        changed = self._bytes(*words, "--ignore-submodules=dirty", commit, "--")
        untracked = self._bytes("ls-files", "--others", "--exclude-standard", "-z")
        return [os.fsdecode(path) for path in (changed + untracked).split(b"\0") if path]

    @contextmanager
    def objects(self) -> Iterator[Objects]:
        """Start a process that reads objects, and end it afterwards.

        Starting git takes longer than reading a source.
        """
        process = self._start("cat-file", "--batch")
        with process:
            try:
                yield Objects(process)
            finally:
                if process.poll() is None:
                    process.kill()

    def _text(self, *words: str) -> str:
        return self._bytes(*words).decode("utf-8", "surrogateescape")

    def _bytes(self, *words: str) -> bytes:
        process = self._start(*words)
        with process:
            try:
                out, err = process.communicate()
            finally:
                if process.poll() is None:
                    process.kill()
        if process.returncode:
            raise GitFailed(_last_line(err) or f"git {words[0]} exited with status {process.returncode}")
        return out

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        return _started([*words], self.top, self.environment)


def repository_of(directory: str) -> Repository:
    """Return the repository whose working tree contains a directory. Raise `GitFailed`.

    It is found from the directory, not from the variables of a hook, which may be about a different repository. Only if
    that finds nothing are they used.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "GIT_CONFIG_PARAMETERS"}
    plain = {name: value for name, value in inherited.items() if name not in (*_PLACES, _OWN_OBJECTS)}
    for environment in (plain, inherited):
        environment = {**environment, **_HARMLESS}
        found = Repository(directory or ".", environment)
        try:
            top = found._text("rev-parse", "--show-toplevel").removesuffix("\n")
        except GitMissing:
            raise
        except GitFailed as failure:
            reason = str(failure)
            continue
        return Repository(os.path.realpath(top), environment)
    raise GitFailed(f"`{directory or '.'}` is not in a git repository with a working tree: {reason}")


def _started(words: list[str], directory: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    settings = ["-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.quotePath=false"]
    try:
        return subprocess.Popen(
            ["git", "--no-pager", *settings, *words],
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if words[0] != "cat-file" else subprocess.DEVNULL,
        )
    except FileNotFoundError as fault:
        if fault.filename == "git":
            raise GitMissing("cannot find `git` on PATH") from None
        raise GitFailed(f"cannot find directory `{directory}`") from None
    except NotADirectoryError:
        raise GitFailed(f"`{directory}` is not a directory") from None


def _last_line(err: bytes) -> str:
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ") if lines else ""
