"""What a refresh reads: installed packages as files, and clones of repositories, which are never written."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import subprocess
import sys
import urllib.error
from collections.abc import Iterable, Iterator

from maintenance.pypi import published_files
from smspec.source.frozen import dataclass
from smspec.source.git_command import GitMissing, run_git

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


class Unreadable(Exception):
    """A source that cannot be read, as a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A distribution in an environment. ``directory``: of its modules."""

    name: str
    version: str
    directory: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """``site_packages``: where packages are; None: in this environment.

    ``sources``: the directory of clones; None: none is read. ``date``: that of the tables that change; None: that of
    their newest source.
    """

    site_packages: str | None = None
    sources: str | None = None
    date: str | None = None

    def installed(self, distribution: str, package: str) -> Installed:
        """Return an installed distribution and the directory of one of its packages; it is never imported."""
        path = sys.path if self.site_packages is None else [self.site_packages]
        found = next(iter(importlib.metadata.distributions(name=distribution, path=path)), None)
        if found is None:
            raise Unreadable(f"{distribution} is not installed")
        return Installed(name=distribution, version=found.version, directory=str(found.locate_file(package)))

    def clone(self, repository: str) -> Checkout:
        """Return the clone of a repository of AWS; clone it if it is missing."""
        if self.sources is None:
            raise Unreadable(f"{repository}: without --sources")
        try:
            return checkout(repository, os.path.abspath(self.sources))
        except (OSError, GitMissing, subprocess.SubprocessError) as error:
            detail = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
            raise Unreadable(f"{repository} cannot be cloned: {detail[-1] if detail else error}") from error

    def date_of(self, *packages: Installed, clones: Iterable[Checkout] = ()) -> str:
        """Return the date of a table: the one that is asked for, or that of its newest source."""
        if self.date is not None:
            return self.date
        return max([*(_published(each) for each in packages), *(each.date for each in clones)])


def _published(package: Installed) -> str:
    """Return the day on which a version was published; today if PyPI does not answer."""
    try:
        dates = [file.date for file in published_files(package.name, package.version)]
    except (OSError, urllib.error.URLError):
        dates = []
    return min(dates, default=datetime.date.today().isoformat())
