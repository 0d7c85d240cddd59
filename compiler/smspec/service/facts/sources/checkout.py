"""A repository of public sources on this machine, read with git and never written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from smspec.source.frozen import dataclass

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
        done = subprocess.run(["git", "-C", self.directory, *words], capture_output=True, check=True)
        return done.stdout.decode()


def checkout(name: str, sources: str) -> Checkout:
    """Return the clone of a repository of AWS below a directory; clone it there if it is missing.

    Raises ``OSError`` or ``subprocess.CalledProcessError`` if it cannot be cloned.
    """
    directory = os.path.join(sources, name)
    if not os.path.isdir(directory):
        os.makedirs(sources, exist_ok=True)
        command = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", f"{_HOST}/{name}", directory]
        # Git must not prompt for a password: a repository that is not public cannot be read.
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        subprocess.run(command, check=True, env=environment, capture_output=True, timeout=600)
    return Checkout(name=name, directory=directory)
