"""What a job has left, wherever it is stored, and the directory it is written to: files inside it only.

No file is larger than the room on its disk.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator

from smspec.source.frozen import dataclass

MODEL, OUTPUT = "model", "output"
KINDS = (MODEL, OUTPUT)
ARCHIVE = ".tar.gz"

_RESERVE = 64 << 20
"""Bytes of the disk that stay free."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of ``size`` bytes. ``name``: model.tar.gz, or model/PATH. ``blocks`` reads and checks it."""

    name: str
    size: int
    blocks: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """The result of a job; ``status`` as SageMaker calls it. ``hosts`` 0: unknown. ``place`` is for messages."""

    job: str
    status: str
    hosts: int
    place: str
    files: tuple[StoredFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


class ResultRefused(Exception):
    """The job has no result, or one that is damaged or unsafe to unpack."""


class MergeFailed(Exception):
    """The parts of the hosts do not fit together. The result itself is whole."""


class ResultTree:
    """Writes below ``root``, which is new. ``warn`` gets a sentence about each member that is left out.

    Names come from an archive or from S3, which the job wrote: an absolute name, or one with ``..``, is refused, as
    `tarfile.data_filter` does. Links are made last, so nothing is ever written through one, and those that lead out of
    ``root`` are left out. Owners, times, and permissions, except that to execute a file, are not taken over.
    ``most_bytes``: of all files.
    """

    def __init__(self, root: str, warn: Callable[[str], None], most_bytes: int | None = None) -> None:
        self.root = root
        self._most_bytes, self._added = most_bytes, 0
        self.digests: dict[str, str] = {}
        """Of each file, by its path below the root: its SHA-256. Links and empty directories are in `extra`."""
        self.sizes: dict[str, int] = {}
        self._warn = warn
        self._directories = {""}
        self._links: dict[str, str] = {}

    @property
    def links(self) -> dict[str, str]:
        return dict(self._links)

    @property
    def directories(self) -> frozenset[str]:
        return frozenset(self._directories - {""})

    def holds(self, path: str) -> bool:
        """Return whether there is a file or link with this path."""
        return path in self.digests or path in self._links

    def add_file(self, name: str, size: int, pieces: Iterable[bytes], *, is_executable: bool = False) -> None:
        """Write a file of ``size`` bytes. Of several with one name, the last one stays, as with tar."""
        path = self._placed(name)
        if not path:
            raise ResultRefused(f"`{name}` is not the name of a file")
        self.need(size)
        self._added += size
        if self._most_bytes is not None and self._added > self._most_bytes:
            raise ResultRefused(f"its files have more than {self._most_bytes:,} bytes")
        place = os.path.join(self.root, path)
        if path in self.digests:
            os.unlink(place)  # it may have hard links
        digest, written = hashlib.sha256(), 0
        with self._sole(name), open(os.open(place, _NEW, 0o777 if is_executable else 0o666), "wb") as file:
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
                written += len(piece)
        if written != size:
            raise ResultRefused(f"`{name}` ends after {written:,} of {size:,} bytes")
        self.digests[path], self.sizes[path] = digest.hexdigest(), size

    def add_directory(self, name: str) -> None:
        path = self._placed(name)
        if path:
            self._make(path, name)

    def add_link(self, name: str, target: str) -> None:
        path = self._placed(name)
        if path:
            self._links[path] = target

    def add_hard_link(self, name: str, target: str) -> None:
        """Give a file that was written before a second name."""
        path, origin = self._placed(name), relative(target)
        if not path or origin not in self.digests:
            raise ResultRefused(f"`{name}` is a link to `{target}`, which is not a file before it")
        with self._sole(name):
            os.link(os.path.join(self.root, origin), os.path.join(self.root, path))
        self.digests[path], self.sizes[path] = self.digests[origin], self.sizes[origin]

    def finish(self) -> None:
        """Make the links that lead to a file or directory of the result."""
        for path, target in self._links.items():
            with self._sole(path):
                os.symlink(target, os.path.join(self.root, path))
        inside = os.path.realpath(self.root) + os.sep
        while outside := [path for path in self._links if not self._leads_inside(path, inside)]:
            for path in outside:  # others may lead through these
                os.unlink(os.path.join(self.root, path))
                target = self._links.pop(path)
                self._warn(f"`{path}` is a link to `{target}`, which is not there; smspec skips it")

    def need(self, size: int) -> None:
        """Raise OSError if the disk has no room for so many bytes."""
        disk = os.statvfs(self.root)
        if size > max(0, disk.f_bavail * disk.f_frsize - _RESERVE):
            raise OSError(errno.ENOSPC, f"no room for {size:,} more bytes", self.root)

    def _leads_inside(self, path: str, inside: str) -> bool:
        place = os.path.join(self.root, path)
        return not os.path.isabs(self._links[path]) and os.path.exists(place) and _is_below(place, inside)

    def _placed(self, name: str) -> str:
        """Return the path of a member, after its directories exist; empty for the root itself."""
        path = relative(name)
        above = path.rpartition("/")[0]
        if above:
            self._make(above, name)
        return path

    def _make(self, path: str, name: str) -> None:
        steps = path.split("/")
        for length in range(1, len(steps) + 1):
            step = "/".join(steps[:length])
            if step not in self._directories:
                with self._sole(name):
                    os.makedirs(os.path.join(self.root, step))
                self._directories.add(step)

    @contextlib.contextmanager
    def _sole(self, name: str) -> Iterator[None]:
        try:
            yield
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            raise ResultRefused(f"`{name}` takes the place of a different file or directory") from None


def relative(name: str) -> str:
    """Return a name without ``.`` and empty steps. Raise `ResultRefused` for one that leads out of the directory."""
    steps = name.split("/")
    if name.startswith("/") or ".." in steps or "\0" in name:
        raise ResultRefused(f"`{name}` lies outside of its directory; smspec unpacks nothing")
    return "/".join(step for step in steps if step not in ("", "."))


def _is_below(place: str, inside: str) -> bool:
    return os.path.realpath(place).startswith(inside)
