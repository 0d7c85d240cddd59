"""Where the files of a wheel are in an image: as pip installs them, with the commands of its entry points.

https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

import configparser
import csv
import io
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from smspec.publishing.packages.base_python import BasePython
from smspec.publishing.packages.wheel import Member, Wheel, record_hash

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
