"""A repository of public sources on this machine, read with git and never written."""

from __future__ import annotations

import os
from collections.abc import Iterator

from smspec.source.frozen import dataclass
from smspec.source.git_command import run_git

_HOST = "https://github.com/aws"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """``directory``: a clone, bare or not. ``name``: that of the repository."""

    name: str
    directory: str

    @property
    def commit(self) -> str:
        """The abbreviated id of the commit that is read."""
        return self._git("rev-parse", "--short=7", "HEAD").strip()

    @property
    def date(self) -> str:
        """The date of the commit that is read."""
        return self._git("log", "-1", "--format=%cd", "--date=short").strip()

    def files(self, below: str, ending: str, *, at: str = "HEAD") -> Iterator[str]:
        """Yield the paths of files, in order."""
        for path in self._git("ls-tree", "-r", "-z", "--name-only", at, "--", below).split("\0"):
            if path.endswith(ending):
                yield path

    def text(self, path: str, *, at: str = "HEAD") -> str:
        """Return the content of a file."""
        return self._git("show", f"{at}:{path}")

    def versions(self) -> tuple[str, ...]:
        """Return the ids of all branches and tags."""
        found = self._git("for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes", "refs/tags")
        return tuple(dict.fromkeys(found.split()))

    def _git(self, *words: str) -> str:
        own = os.path.join(self.directory, ".git")
        bare = self.directory if not os.path.lexists(own) else None
        done = run_git(words, self.directory, git_directory=bare, may_fetch=True)
        done.check_returncode()
        return done.stdout.decode()


def checkout(name: str, sources: str) -> Checkout:
    """Return the clone of a repository of AWS below a directory; clone it there if it is missing.

    Raises ``GitMissing`` or ``subprocess.SubprocessError`` if it cannot be cloned.
    """
    directory = os.path.join(sources, name)
    if not os.path.isdir(directory):
        os.makedirs(sources, exist_ok=True)
        words = ["clone", "--quiet", "--bare", "--filter=blob:none", f"{_HOST}/{name}", directory]
        run_git(words, sources, may_fetch=True, timeout=600).check_returncode()
    return Checkout(name=name, directory=directory)
