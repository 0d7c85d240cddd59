"""Where the files of a wheel are in an image: as pip installs them into the Python of the base, with its commands.

Which files of the base a new version removes is written as marks in a layer:
https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts. Commands:
https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

import configparser
import csv
import io
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from smspec.lock.compatibility import version
from smspec.publishing.packages.base_listing import BaseListing
from smspec.publishing.packages.wheel import Member, Wheel, record_hash
from smspec.publishing.publication import PublishFailed
from smspec.service.requirement_lines import normalized

_PROGRAM = "python3"
_OF_DEBIAN = "/usr/lib/python3/dist-packages"
_INSTALLED = re.compile(r"([A-Za-z0-9._]+)-([^-]+?)(?:-py3[.\d]*)?\.(dist-info|egg-info)")
_SHEBANG = re.compile(r"/[\w./+-]{1,100}", re.ASCII)
INSTALLER = "smspec"
_SECTIONS = ("console_scripts", "gui_scripts")
_NAME = re.compile(r"[\w-][\w .+-]*", re.ASCII)
_OF_PIP = re.compile(r"pip(?:\d+(?:\.\d+)?)?")
_IDENTIFIERS = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_REFERENCE = re.compile(rf"({_IDENTIFIERS})\s*:\s*({_IDENTIFIERS})\s*(?:\[[^]]*\])?")

# As pip writes it. The suffix is that of a program on Windows.
_COMMAND = """\
#!{python}
# -*- coding: utf-8 -*-
import re
import sys
from {module} import {name}
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit({called}())
"""


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
    occupied = {above for path in kept for above in directories_above(path)}
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


def directories_above(path: str) -> Iterator[str]:
    """Yield the directories above a path, without the root."""
    while (path := posixpath.dirname(path)) != "/":
        yield path


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledFile:
    """``path`` is absolute. ``owner``: the project that it is of. ``digest``: of its content, in any one form."""

    path: str
    size: int
    is_executable: bool
    owner: str
    digest: tuple[str, str]
    chunks: Callable[[], Iterator[bytes]]


def installed_files(wheel: Wheel, python: BasePython, url: str, sha256: str) -> list[InstalledFile]:
    """Return the files of a wheel. ``url``: of a requirement that names a file; empty for one with a version.

    Raise PublishFailed for a wheel that pip rejects.
    """
    commands = entry_commands(wheel, python.program, python.minor)
    found, rows = [], {row[0]: row for row in wheel.rows}
    for member in wheel.members:
        if member.digest is None:  # the RECORD, which is written again, or its signature
            continue
        path = _place(wheel, member, python)
        relative = posixpath.relpath(path, python.packages)
        row = rows.pop(member.path)
        if path.startswith(f"{python.scripts}/") and _is_script(wheel, member):
            if _command_of(path) in commands:
                continue
            script = wheel.content(member.path) or b""
            changed = started_by(script, python.program)
            if changed is not None:
                row = (relative, record_hash(changed), str(len(changed)))
            content = changed if changed is not None else script
            found.append(_made(wheel, path, content, is_executable=member.is_executable))
        else:
            found.append(_copied(wheel, member, path))
        rows[relative] = (relative, *row[1:])
    for path, content, is_executable in _added(wheel, python, commands, url, sha256):
        found.append(_made(wheel, path, content, is_executable=is_executable))
        relative = posixpath.relpath(path, python.packages)
        rows[relative] = (relative, record_hash(content), str(len(content)))
    for name in [name for name in rows if name.startswith(f"{wheel.info}/RECORD.")]:
        del rows[name]
    record = f"{wheel.info}/RECORD"
    rows[record] = (record, "", "")
    found.append(_made(wheel, f"{python.packages}/{record}", _record(rows), is_executable=False))
    return found


def _added(
    wheel: Wheel, python: BasePython, commands: dict[str, bytes], url: str, sha256: str
) -> Iterator[tuple[str, bytes, bool]]:
    for name, content in commands.items():
        yield f"{python.scripts}/{name}", content, True
    info = f"{python.packages}/{wheel.info}"
    yield f"{info}/INSTALLER", f"{INSTALLER}\n".encode(), False
    yield f"{info}/REQUESTED", b"", False
    if url:
        origin = {"archive_info": {"hash": f"sha256={sha256}", "hashes": {"sha256": sha256}}, "url": url}
        yield f"{info}/direct_url.json", json.dumps(origin, sort_keys=True).encode(), False


def _place(wheel: Wheel, member: Member, python: BasePython) -> str:
    """Return the path of a member. https://docs.python.org/3/library/sysconfig.html#installation-paths"""
    first, _, rest = member.path.partition("/")
    if first != f"{wheel.info.removesuffix('.dist-info')}.data":
        return f"{python.packages}/{member.path}"
    scheme, _, inner = rest.partition("/")
    places = {
        "purelib": python.packages,
        "platlib": python.packages,
        "scripts": python.scripts,
        "headers": python.headers(wheel.name),
        "data": python.prefix,
    }
    if scheme not in places or not inner:
        raise wheel.rejected(f"pip does not know where `{member.path[:200]}` in it belongs")
    return f"{places[scheme]}/{inner}"


def _is_script(wheel: Wheel, member: Member) -> bool:
    return member.path.startswith(f"{wheel.info.removesuffix('.dist-info')}.data/scripts/")


def _command_of(path: str) -> str:
    """Return the entry point that setuptools may have written a script for, which pip leaves out."""
    name = posixpath.basename(path)
    return name.removesuffix(".exe").removesuffix("-script.py").removesuffix(".pya")


def _copied(wheel: Wheel, member: Member, path: str) -> InstalledFile:
    assert member.digest is not None  # of a member that its RECORD lists
    return InstalledFile(
        path=path,
        size=member.size,
        is_executable=member.is_executable,
        owner=wheel.name,
        digest=member.digest,
        chunks=lambda: wheel.chunks(member),
    )


def _made(wheel: Wheel, path: str, content: bytes, *, is_executable: bool) -> InstalledFile:
    return InstalledFile(
        path=path,
        size=len(content),
        is_executable=is_executable,
        owner=wheel.name,
        digest=("sha256", record_hash(content).partition("=")[2]),
        chunks=lambda: iter((content,)),
    )


def _record(rows: dict[str, tuple[str, str, str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(sorted(rows.values()))
    return text.getvalue().encode()


def entry_commands(wheel: Wheel, python: str, minor: str) -> dict[str, bytes]:
    """Return the name of each command, and its content. Raise PublishFailed for one that pip rejects.

    ``minor``: the version of Python, such as ``3.12``.
    """
    text = wheel.text("entry_points.txt")
    if text is None:
        return {}
    parser = configparser.RawConfigParser(delimiters=("=",), strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[method-assign,assignment]  # names keep their case
    try:
        parser.read_string(text)
    except configparser.Error:
        raise wheel.rejected("its `entry_points.txt` is malformed") from None
    found = {}
    for section in _SECTIONS:
        for name, reference in parser.items(section) if parser.has_section(section) else ():
            found[name] = _command(wheel, name, reference or "", python)
    return _with_versions_of_pip(found, minor)


def _with_versions_of_pip(commands: dict[str, bytes], minor: str) -> dict[str, bytes]:
    """Return commands with those of pip for this Python, whichever its wheel lists."""
    if "pip" not in commands:
        return commands
    kept = {name: content for name, content in commands.items() if not _OF_PIP.fullmatch(name)}
    return {**kept, **dict.fromkeys(("pip", f"pip{minor.partition('.')[0]}", f"pip{minor}"), commands["pip"])}


def _command(wheel: Wheel, name: str, reference: str, python: str) -> bytes:
    match = _REFERENCE.fullmatch(reference.strip())
    if match is None or _NAME.fullmatch(name) is None:
        raise wheel.rejected(f"its entry point `{name[:60]} = {reference[:100]}` is malformed")
    module, called = match.groups()
    return _COMMAND.format(python=python, module=module, name=called.partition(".")[0], called=called).encode()


def started_by(script: bytes, python: str) -> bytes | None:
    """Return a script that starts with ``#!python`` with the Python of an image; None for any other."""
    first, _, rest = script.partition(b"\n")
    return b"#!" + python.encode() + b"\n" + rest if first.startswith(b"#!python") else None
