"""The wheels of a lockfile, by their SHA-256: in the cache, or from the package indexes, with pip."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence

from smspec.lock.compatibility import platforms
from smspec.lock.index_listing import index_connections, listed_files
from smspec.lock.index_settings import IndexSettings
from smspec.lock.resolver_process import ResolverFailed, output_of, unusable_index
from smspec.publishing.publication import PublishFailed
from smspec.service.bare_image import BareImage
from smspec.service.requirement_lines import Requirement, normalized
from smspec.source.real_file import sha256_of
from smspec.wire.fault import WireFault
from smspec.workspace.own_directories import (
    VARIABLE,
    cache_directory,
    existing_cache,
    make_private,
    open_cache,
    require_safe_entry,
)

_FORMAT = "wheels-1"
_UNFINISHED = "unfinished-"
_NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded|^--- Logging error ---", re.MULTILINE)
"""The last one: what pip prints has no room either."""

_WRONG_HASH = "DO NOT MATCH THE HASHES"
_NOT_THERE = re.compile(r"satisfies the requirement ([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)")
_ENGINE = "build the image with an engine"


class WheelCache:
    """A directory with wheels. One process at a time downloads to it."""

    def __init__(self) -> None:
        self._directory = os.path.join(cache_directory(), _FORMAT)

    def get(self, requirement: Requirement) -> str | None:
        """Return the path of the wheel of a requirement; None if it is missing or damaged."""
        if existing_cache(_FORMAT) is None:
            return None
        for sha256 in sorted(requirement.hashes):
            directory = os.path.join(self._directory, sha256)
            with contextlib.suppress(OSError):
                require_safe_entry(directory)
                for name in sorted(os.listdir(directory)):
                    path = os.path.join(directory, name)
                    if name.endswith(".whl") and _sha256(path) == sha256:
                        return path
        return None

    def download(
        self, requirements: Sequence[Requirement], options: Sequence[str], settings: IndexSettings, image: BareImage
    ) -> None:
        """Put the wheels of requirements into the cache. Raise PublishFailed."""
        try:
            with self._unfinished() as directory:
                _download(requirements, options, settings, image, directory)
                for name in os.listdir(directory):
                    self._keep(os.path.join(directory, name), name)
        except OSError as fault:
            raise self._unwritable((fault.strerror or str(fault)).lower()) from None
        except _DiskFull:
            raise self._unwritable("no space left on device") from None

    def _keep(self, path: str, name: str) -> None:
        if name.endswith(".whl"):
            directory = os.path.join(self._directory, _sha256(path))
            shutil.rmtree(directory, ignore_errors=True)
            os.makedirs(directory, 0o700)
            os.rename(path, os.path.join(directory, name))
            make_private(directory)

    @contextlib.contextmanager
    def _unfinished(self) -> Iterator[str]:
        """An empty directory of this process alone: the pip of a killed one may go on, until its directory is gone."""
        open_cache(_FORMAT)
        lock = os.open(os.path.join(self._directory, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for name in os.listdir(self._directory):
                if name.startswith(_UNFINISHED):
                    shutil.rmtree(os.path.join(self._directory, name), ignore_errors=True)
            path = tempfile.mkdtemp(dir=self._directory, prefix=_UNFINISHED)
            try:
                yield path
            finally:
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)

    def _unwritable(self, why: str) -> PublishFailed:
        return PublishFailed(
            3, f"cannot keep wheels in `{self._directory}`: {why}; set {VARIABLE} to a different directory"
        )


class _DiskFull(Exception):
    """pip has no room for a wheel."""


def _download(
    requirements: Sequence[Requirement],
    options: Sequence[str],
    settings: IndexSettings,
    image: BareImage,
    directory: str,
) -> None:
    """Let pip download wheels, and nothing that it would have to build."""
    if importlib.util.find_spec("pip") is None:
        raise PublishFailed(3, "`--engine none` downloads wheels with pip, which this Python lacks; install pip")
    lines = [*options, *(f"{each.text} {' '.join(_hashes(each))}" for each in requirements)]
    file = os.path.join(directory, "requirements.txt")
    with open(file, "w", encoding="utf-8") as target:
        target.write("".join(f"{line}\n" for line in lines))
    words = ["download", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", file]
    words += ["--dest", directory, "--python-version", image.release, "--implementation", "cp", "--no-color"]
    words += [word for platform in platforms(image) for word in ("--platform", platform)]
    words += ["--quiet", "--progress-bar", "off"]
    # pip unpacks metadata and what it downloads in a temporary directory, which may be in memory.
    variables = {**settings.pip, "TMPDIR": directory}
    try:
        status, text = output_of([sys.executable, "-m", "pip", *words], variables, directory)
        if status:
            text = settings.masked(text)
            _explain(text, requirements, settings)
            raise PublishFailed(3, f"pip cannot download the wheels of the lockfile: {_last_error(text)}")
    except ResolverFailed as fault:
        raise PublishFailed(3, f"cannot download the wheels of the lockfile: {fault}") from None


def _hashes(requirement: Requirement) -> list[str]:
    return [f"--hash=sha256:{sha256}" for sha256 in sorted(requirement.hashes)]


def _explain(text: str, requirements: Sequence[Requirement], settings: IndexSettings) -> None:
    """Raise the error of a file that the indexes do not have, or of an index, as far as pip names it."""
    if _NO_ROOM.search(text):
        raise _DiskFull
    missing = _NOT_THERE.search(text)
    found = next((each for each in requirements if missing and each.name == normalized(missing[1])), None)
    if _WRONG_HASH in text:
        where = f" of `{found.shown}`" if found else ""
        raise PublishFailed(
            1,
            f"the package index has other files{where} for the base than the lockfile: {_expected(text)};"
            " run `smspec lock --update`",
        )
    unusable_index(text, "pip")
    if found is not None and "No matching distribution" in text:
        _require_listing(found.name, settings)
        raise PublishFailed(
            1,
            f"the package indexes have no wheel of `{found.shown}` that is in the lockfile and fits the base; if the"
            f" lockfile has a source distribution, {_ENGINE}, or put a wheel into an index; otherwise run"
            " `smspec lock --update`",
        )


def _require_listing(name: str, settings: IndexSettings) -> None:
    """Raise PublishFailed if an index does not list its files, of which pip says only that they do not fit."""
    connections = index_connections()
    try:
        listed_files(name, settings, connections)
    except WireFault as fault:
        why = settings.masked(str(fault))
        raise PublishFailed(3, f"cannot download `{name}`: a package index does not list its files: {why}") from None


def _expected(text: str) -> str:
    """Return the requirement above the hashes that pip prints."""
    match = re.search(r"(?m)^\s+(\S+==\S+|\S+ @ \S+|\S+ from \S+).*:\s*$", text)
    return match[1][:100] if match else "a hash differs"


def _last_error(text: str) -> str:
    lines = [line.removeprefix("ERROR: ").strip() for line in text.splitlines() if line.strip()]
    return (lines or ["it gives no reason"])[-1][:200]


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        return sha256_of(file)
