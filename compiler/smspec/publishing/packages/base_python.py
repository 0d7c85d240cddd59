"""The Python of a base image: where its packages are, which it has, and which files a new version of one removes.

They are removed by marks in a layer: https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
"""

from __future__ import annotations

import csv
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from smspec.lock.compatibility import version
from smspec.publishing.packages.base_listing import BaseListing
from smspec.publishing.publication import PublishFailed
from smspec.service.requirement_lines import normalized

_PROGRAM = "python3"
_OF_DEBIAN = "/usr/lib/python3/dist-packages"
_INSTALLED = re.compile(r"([A-Za-z0-9._]+)-([^-]+?)(?:-py3[.\d]*)?\.(dist-info|egg-info)")
_SHEBANG = re.compile(r"/[\w./+-]{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A package of the base: its directory with metadata, and its files; None if that is unknown."""

    version: str
    info: str
    files: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BasePython:
    """``program``: in the first line of scripts. ``prefix``: above ``bin``, ``include``, and data.

    ``packages``: the directory into which pip installs; ``others``: those that this Python reads after it.
    """

    program: str
    minor: str
    prefix: str
    packages: str
    others: tuple[str, ...]

    @property
    def scripts(self) -> str:
        """The directory of commands."""
        return f"{self.prefix}/bin"

    def headers(self, name: str) -> str:
        """Return the directory of the header files of a package."""
        return f"{self.prefix}/include/python{self.minor}/{name}"


def base_python(base: str, listing: BaseListing, path: str) -> BasePython:
    """Return the ``python3`` that the variable PATH finds. Raise PublishFailed if there is none, or it is unusual."""
    try:
        program = next(_programs(listing, path), None)
        if program is None:
            raise _unusable(base, "its `PATH` leads to no `python3`")
        real = listing.resolved(program)
        match = re.fullmatch(r"python(3\.\d{1,2})", posixpath.basename(real))
        if match is None or not _SHEBANG.fullmatch(program):
            raise _unusable(base, f"its `{program}` is `{real[:100]}`, not a CPython of a known place")
        minor = match[1]
        environment = posixpath.dirname(posixpath.dirname(program))
        if any(listing.has(f"{place}/pyvenv.cfg") for place in (environment, posixpath.dirname(program))):
            return _python(program, minor, environment, f"{environment}/lib/python{minor}/site-packages")
        prefix = posixpath.dirname(posixpath.dirname(real))
        if not listing.has(f"{prefix}/lib/python{minor}/os.py"):
            raise _unusable(base, f"the library of its `{real[:100]}` is not in `{prefix}/lib/python{minor}`")
        if prefix == "/usr" and listing.has(_OF_DEBIAN):
            # The scheme `posix_local` of Debian and Ubuntu.
            others = (_OF_DEBIAN, f"/usr/lib/python{minor}/dist-packages")
            return _python(program, minor, "/usr/local", f"/usr/local/lib/python{minor}/dist-packages", others)
    except ValueError:
        raise _unusable(base, "its `python3` is a loop of symbolic links") from None
    return _python(program, minor, prefix, f"{prefix}/lib/python{minor}/site-packages")


def _python(program: str, minor: str, prefix: str, packages: str, others: tuple[str, ...] = ()) -> BasePython:
    return BasePython(program=program, minor=minor, prefix=prefix, packages=packages, others=others)


def _programs(listing: BaseListing, path: str) -> Iterator[str]:
    for directory in path.split(":"):
        candidate = f"{directory.rstrip('/')}/{_PROGRAM}"
        if directory.startswith("/") and listing.has(candidate):
            yield candidate


def _unusable(base: str, why: str) -> PublishFailed:
    return PublishFailed(1, f"cannot install packages into the base `{base}`: {why}; build the image with an engine")


def installed_packages(listing: BaseListing, directory: str) -> dict[str, Installed]:
    """Return the packages in a directory: normalized name → what is known of it."""
    directory = listing.resolved(directory)
    found = {}
    for name in listing.names(directory):
        match = _INSTALLED.fullmatch(name)
        if match is None:
            continue
        info = f"{directory}/{name}"
        record = listing.get(f"{info}/RECORD")
        files = None if record is None or not record.text else tuple(_files(record.text, directory))
        found[normalized(match[1])] = Installed(version=match[2], info=info, files=files)
    return found


def _files(record: str, directory: str) -> Iterator[str]:
    try:
        for row in csv.reader(record.splitlines()):
            if row:
                yield posixpath.normpath(posixpath.join(directory, row[0]))
    except csv.Error:
        return


def is_same_version(one: str, other: str) -> bool:
    """Return whether two texts are the same version of a package."""
    first, second = version(one.replace("_", "-")), version(other.replace("_", "-"))
    if first is None or second is None:
        return one == other
    return (first.key, first.local.replace("-", ".")) == (second.key, second.local.replace("-", "."))


def removed_files(listing: BaseListing, python: BasePython, old: Iterable[Installed], kept: set[str]) -> Iterator[str]:
    """Yield what the base has of old versions: files, and directories that would be empty.

    ``kept``: the files of the new layer, which replace those with the same path.
    """
    gone = {path for each in old for path in _files_to_remove(listing, python, each)}
    occupied = {above for path in kept for above in _above(path)}
    whole: dict[str, bool] = {}

    def is_gone(path: str) -> bool:
        if path not in whole:
            names = listing.names(path)
            if names:
                whole[path] = path not in occupied and all(is_gone(f"{path}/{name}") for name in names)
            else:
                whole[path] = path in gone
        return whole[path]

    found = set()
    for path in gone - kept:
        top = path
        while is_gone(posixpath.dirname(top)):
            top = posixpath.dirname(top)
        found.add(top)
    yield from sorted(found)


def _files_to_remove(listing: BaseListing, python: BasePython, old: Installed) -> Iterator[str]:
    for path in old.files or ():
        path = listing.resolved(path)
        if path.startswith((f"{python.prefix}/", f"{python.packages}/")) and listing.get(path) is not None:
            yield path
        directory, name = posixpath.split(path)
        stem = name.removesuffix(".py")
        for compiled in listing.names(f"{directory}/__pycache__") if stem != name else ():
            if compiled.startswith(f"{stem}.cpython-"):
                yield f"{directory}/__pycache__/{compiled}"


def _above(path: str) -> Iterator[str]:
    while (path := posixpath.dirname(path)) != "/":
        yield path
