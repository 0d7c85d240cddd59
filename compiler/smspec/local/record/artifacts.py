"""Merge the output of the hosts into model.tar.gz and output.tar.gz, as SageMaker does when a job ends.

The archives are reproducible: names sorted, no times, owners, or modes of this machine.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smspec.local.running.events import Remark, Reporter
from smspec.source.frozen import dataclass
from smspec.source.real_file import walked

if TYPE_CHECKING:
    import tarfile

_DIRECTORY = ""

_LONGEST_NAME, _MOST_SHOWN = 80, 20
"""Characters of a name in a warning, and warnings about one directory."""

_MOST_HOLES = 16 << 30
"""Bytes that sparse files do not have on the disk: to pack a terabyte of them takes an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The result for one kind of output. ``path`` is an archive, or a directory if nothing is compressed."""

    path: str
    files: int
    size: int


def collect(
    what: str, directories: Sequence[tuple[str, str]], target: str, *, compressed: bool, reporter: Reporter
) -> Collected | None:
    """Merge the directories of the hosts, (host, directory), into ``target``; None if they are all empty.

    If two hosts wrote the same path, the later host wins, with a warning. Symbolic links that lead out of the
    directory, and whatever is neither file nor directory, are skipped, with a warning.
    """
    owners: dict[str, str] = {}
    sources: dict[str, str] = {}
    for host, directory in directories:
        members = _members(what, host, directory, reporter)
        if compressed and what == "model":
            _warn_about_links(host, directory, [name for name, source in members if source], reporter)
        for name, source in members:
            if name in owners and source and sources[name]:
                _warn(
                    reporter,
                    f"{owners[name]} and {host} both wrote `{name}` to {what}; smspec keeps the file of {host}",
                )
            owners[name], sources[name] = host, source
    files = {name: source for name, source in sources.items() if source != _DIRECTORY}
    if not sources:
        return None
    path = _archive(sources, target + ".tar.gz") if compressed else _tree(sources, target)
    return Collected(path=path, files=len(files), size=sum(os.path.getsize(source) for source in files.values()))


def _members(what: str, host: str, root: str, reporter: Reporter) -> list[tuple[str, str]]:
    """Return (name, file) for everything below ``root``; directories have no file."""
    found: list[tuple[str, str]] = []
    try:
        is_directory = stat.S_ISDIR(os.lstat(root).st_mode)
    except OSError as fault:
        # As root, SageMaker reads what a script makes unreadable for you.
        if isinstance(fault, PermissionError):
            _warn(reporter, f"{host}: its {what} directory cannot be read (permission denied); smspec ignores it")
            return found
        is_directory = False
    if not is_directory:
        _warn(reporter, f"{host}: the script replaced its {what} directory; smspec ignores it")
        return found
    inside = os.path.realpath(root) + os.sep
    above = len(os.path.join(root, ""))  # `relpath` takes long for thousands of nested directories
    holes = 0
    left_out: list[str] = []

    def leave_out(path: str, why: str) -> None:
        name = path[above:] or os.curdir
        shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
        left_out.append(f"{host}: `{shown}` in {what} {why}; smspec ignores it")

    def unread(path: str, fault: OSError) -> None:
        leave_out(path, f"cannot be read ({(fault.strerror or '').lower()})")

    for directory, directories, files in walked(root, unread):
        directories.sort()
        for entry in sorted([*directories, *files]):
            path = os.path.join(directory, entry)
            is_link = os.path.islink(path)
            target = os.path.realpath(path) if is_link else path
            status = os.stat(path) if os.path.exists(path) else None
            mode = status.st_mode if status is not None else 0
            missing = max(0, status.st_size - status.st_blocks * 512) if status is not None else 0
            if is_link and not (target.startswith(inside) and stat.S_ISREG(mode)):
                leave_out(path, f"is a link that does not point to a file in {what}")
            elif stat.S_ISDIR(mode):
                found.append((path[above:], _DIRECTORY))
            elif not stat.S_ISREG(mode):
                leave_out(path, "is not a file or directory")
            elif not os.access(target, os.R_OK):
                leave_out(path, "cannot be read (permission denied)")
            elif holes + missing > _MOST_HOLES:
                leave_out(path, f"is a sparse file with {missing / 1e9:,.0f} GB of zeros that are not on the disk")
            else:
                holes += missing
                found.append((path[above:], target))
    for text in left_out[:_MOST_SHOWN]:
        _warn(reporter, text)
    if len(left_out) > _MOST_SHOWN:
        _warn(reporter, f"{host}: smspec ignores {len(left_out) - _MOST_SHOWN:,} more in {what}")
    return found


def _warn_about_links(host: str, root: str, names: Sequence[str], reporter: Reporter) -> None:
    """SageMaker keeps links in model.tar.gz, which this module replaces by copies."""
    links = [name for name in names if os.path.islink(os.path.join(root, name))]
    if links:
        more = f" and {len(links) - 1} more" if len(links) > 1 else ""
        _warn(
            reporter,
            f"{host}: `{links[0]}`{more} in model {'are links' if more else 'is a link'}: SageMaker keeps links in "
            "model.tar.gz, where an endpoint may reject them; copy the files instead",
        )


def _archive(sources: dict[str, str], path: str) -> str:
    """Write the archive to a temporary file and rename it, so that it is complete or missing."""
    import gzip  # imported late, as below: many jobs write nothing
    import tarfile

    unfinished = path + ".part"
    try:
        with (
            open(unfinished, "xb") as raw,
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name in sorted(sources, key=os.fsencode):
                _add(archive, name, sources[name])
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
    return path


def _add(archive: tarfile.TarFile, name: str, source: str) -> None:
    import tarfile

    member = tarfile.TarInfo(name)
    if source == _DIRECTORY:
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(member)
        return
    with open(source, "rb") as file:
        status = os.fstat(file.fileno())
        member.size = status.st_size
        member.mode = 0o755 if status.st_mode & stat.S_IXUSR else 0o644
        archive.addfile(member, file)


def _tree(sources: dict[str, str], path: str) -> str:
    """OutputDataConfig.CompressionType NONE: the files unchanged, under a prefix."""
    for name in sorted(sources, key=os.fsencode):
        target = os.path.join(path, name)
        if sources[name] == _DIRECTORY:
            os.makedirs(target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(sources[name], target)
            status = os.stat(sources[name])
            os.chmod(target, status.st_mode & 0o777)  # no set-user-ID bits
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return path


def _warn(reporter: Reporter, text: str) -> None:
    reporter.report(Remark(text=text, warning=True))
