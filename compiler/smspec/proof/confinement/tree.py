"""The files that a process sees: a tree of mounts of its own, in which it can change few directories.

Sockets by which other programs accept orders, such as Docker's, homes, and the disks of this machine are not in it: a
socket could be reached even below a read-only mount.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from smspec.local.engines.namespace.cell import kernel
from smspec.local.engines.namespace.cell.kernel import MASKED_OF_SYS, hide, protect_proc, show_device
from smspec.local.engines.namespace.cell.users import open_inner

SYSTEM = tuple(
    f"/{name}" for name in ("etc", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "opt", "nix", "gnu")
)
"""Programs and libraries of this machine, as the image would have them."""

_OF_AUTHORS = ("/etc", "/opt", "/nix", "/usr/local")
"""Where authors put files, too, which may be secret. The system's own packages fill the rest of `SYSTEM`."""

OWN_DIRECTORIES = ("/tmp", "/var/tmp", "/dev/shm")
"""In memory, and empty."""

OF_THE_JOB = "/opt/ml"
"""What a training container has there, a process sees as its own."""

_EMPTY = ("/dev", "/proc", "/sys", "/run", "/var", "/home", "/root", "/mnt", "/srv")
_MOUNT_POINTS = ("/mnt", "/srv", "/media", "/boot", "/run", "/home", "/var", "/root")
_DESCRIPTORS = (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"))
_SAFE = kernel.NO_SUID | kernel.NO_DEVICES
_SMALL = "mode=755,size=16m"
_MOST_LINKS = 40


class Shown(NamedTuple):
    """What a process sees besides the system: what it can change, and what it can only read, without what is hidden.

    ``host``: the directory that it sees at `OF_THE_JOB`; empty if there is none.
    """

    writable: list[str]
    devices: list[str]
    places: list[str]
    hidden: list[str]
    host: str


def foreign_system() -> dict[str, int]:
    """Return open mounts of directories of the system in which the files of root belong to a user without an account.

    As root, a process then reads there what every user can read: without capabilities, the kernel refuses it the rest.
    Only root of the machine can make them, before it moves to a new namespace, and not on every file system.
    """
    found: dict[str, int] = {}
    with suppress(kernel.StepFailed):
        users = open_inner(shifted=True)
        for path in sorted({_real(path, {}) for path in SYSTEM if os.path.isdir(path)}):
            with suppress(kernel.StepFailed):
                found[path] = kernel.open_shifted(path, users, _SAFE | kernel.READ_ONLY)
        os.close(users)
    return found


def enter(wanted: Shown, room: int, foreign: Mapping[str, int], *, has_processes: bool) -> None:
    """Build the tree in new mounts, and make it the root of this process. Raise StepFailed or OSError.

    ``room``: the bytes of each directory in memory. ``foreign``: what `foreign_system` returned. ``has_processes``: the
    process is in a new namespace of them.
    """
    kernel.make_private()
    here = os.getcwd()
    writable = [os.path.realpath(path) for path in wanted.writable]
    links: dict[str, str] = {}
    shown = {_real(path, links) for path in (*SYSTEM, *wanted.places) if os.path.exists(path)} - {"/"}
    sources = [*shown, *writable]
    root = next(path for path in _MOUNT_POINTS if _is_free(path, sources))
    kernel.mount("tmpfs", root, _SAFE, _SMALL)
    for path in _EMPTY:
        os.makedirs(root + path)
    memory = f"size={room},mode=1777"
    for path in OWN_DIRECTORIES:
        os.makedirs(root + path)
        kernel.mount("tmpfs", root + path, _SAFE, memory)
    for path in sorted(shown):
        _show(path, root, foreign)
    for path, target in links.items():
        if not os.path.lexists(root + path):
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            os.symlink(target, root + path)
    for path in wanted.devices:
        _show_device(path, root)
    for path in wanted.hidden:
        if os.path.lexists(root + path):
            kernel.bind(f"{root}/dev/null", root + path)
    for name, target in _DESCRIPTORS:
        os.symlink(target, f"{root}/dev/{name}")
    if not os.geteuid():
        _hide_private(wanted.places, root, foreign)
    _show_kernel(root, has_processes=has_processes)
    if wanted.host:
        _show_host(wanted.host, root)
    for path in writable:
        os.makedirs(root + path, exist_ok=True)
        kernel.bind(path, root + path, writable=True)
    kernel.change_root(root)
    kernel.mount("none", "/", kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | _SAFE)
    # An earlier command may have replaced this directory by a link: that is no reason to confine less.
    os.chdir(here if os.path.isdir(here) else writable[0])


def private(places: Iterable[str], but: Container[str] = ()) -> list[str]:
    """Return what only root can read in directories of the system, except in ``places`` and the directories ``but``."""
    own = {os.path.realpath(path) for path in places}
    real = [os.path.realpath(path) for path in _OF_AUTHORS]
    # With /usr, what is mounted in it is mapped, too; a link may lead elsewhere.
    ahead = [path for path in real if path not in but and not (path.startswith("/usr/") and "/usr" in but)]
    found = []
    while ahead:
        with suppress(OSError), os.scandir(ahead.pop()) as entries:
            for entry in entries:
                if entry.path not in own and not _is_public(entry):
                    found.append(entry.path)
                elif entry.is_dir(follow_symlinks=False) and entry.path not in own:
                    ahead.append(entry.path)
    return found


def _hide_private(wanted: Iterable[str], root: str, foreign: Mapping[str, int]) -> None:
    """Hide what only root can read, around the places that are shown."""
    places = sorted({os.path.realpath(path) for path in wanted})
    above = [path for path in map(_private_above, places) if path is not None]
    above = [path for path in above if not any(f"{path}/".startswith(f"{place}/") for place in places)]
    for path in sorted({*private(places, foreign), *above}):
        inside = [place for place in places if place.startswith(f"{path}/")]
        if not inside:
            hide(root + path, f"{root}/dev/null")
            continue
        kernel.mount("tmpfs", root + path, _SAFE, _SMALL)
        for place in inside:
            _show(place, root, {})
        kernel.protect(root + path, _SAFE | kernel.READ_ONLY)


def _private_above(path: str) -> str | None:
    """Return the outermost directory of the system above a path that only root can enter."""
    steps = path.split("/")
    above = ["/".join(steps[:count]) for count in range(3, len(steps))] if f"/{steps[1]}" in SYSTEM else []
    return next((each for each in above if os.stat(each).st_mode & 0o005 != 0o005), None)


def public_parts(directory: str, hidden: Iterable[str]) -> list[str]:
    """Return paths that together are a directory without what is hidden in it."""
    below = [path for path in hidden if f"{path}/".startswith(f"{directory}/")]
    if not below or directory in below:
        return [] if below else [directory]
    paths = [entry.path for entry in os.scandir(directory) if not entry.is_symlink()]
    return [part for path in paths for part in public_parts(path, below)]


def _is_public(entry: os.DirEntry[str]) -> bool:
    needed = 0o005 if entry.is_dir(follow_symlinks=False) else 0o004
    return entry.is_symlink() or entry.stat(follow_symlinks=False).st_mode & needed == needed


def _is_free(path: str, sources: Iterable[str]) -> bool:
    """Return whether a directory exists, and nothing that the tree shows is in it."""
    is_used = any(f"{source}/".startswith(f"{path}/") for source in sources)
    return os.path.isdir(path) and not os.path.islink(path) and not is_used


def _real(path: str, links: dict[str, str]) -> str:
    """Return a path without links, and add the links on the way."""
    ahead, here = [part for part in reversed(path.split("/")) if part], ""
    followed = 0
    while ahead:
        part = ahead.pop()
        if part in (".", ".."):
            here = here if part == "." else os.path.dirname(here)
            continue
        place = f"{here.rstrip('/')}/{part}"
        if not os.path.islink(place):
            here = place
            continue
        followed += 1
        if followed > _MOST_LINKS:
            break
        target = links[place] = os.readlink(place)
        ahead += [part for part in reversed(target.split("/")) if part]
        here = "" if target.startswith("/") else here
    return here or "/"


def _show(path: str, root: str, foreign: Mapping[str, int]) -> None:
    """Show a file or directory, read-only, unless it is in one that is shown."""
    target = root + path
    if os.path.lexists(target) and (not os.path.isdir(target) or os.path.samefile(path, target)):
        # Packages that root has installed for itself are private in a directory whose owner is foreign.
        is_own = path not in foreign and path not in _OF_AUTHORS
        if is_own and os.path.isdir(path) and any(path.startswith(f"{above}/") for above in foreign):
            kernel.bind(path, target)
        return
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    if path in foreign:
        kernel.attach(foreign[path], target)
    else:
        kernel.bind(path, target)


def _show_host(host: str, root: str) -> None:
    """Show a directory at `OF_THE_JOB`: the one above it, which may be read-only, gets a copy in memory, of mounts."""
    above, before = root + os.path.dirname(OF_THE_JOB), f"{root}/run/before"
    source = root + _real(os.path.dirname(OF_THE_JOB), {})
    if os.path.islink(above):
        os.unlink(above)
    for path in (above, before, source):
        os.makedirs(path, exist_ok=True)
    kernel.bind(source, before)
    kernel.mount("tmpfs", above, _SAFE, _SMALL)
    for name in {*os.listdir(before)} - {os.path.basename(OF_THE_JOB)}:
        path, target = f"{before}/{name}", f"{above}/{name}"
        if os.path.islink(path):
            os.symlink(os.readlink(path), target)
        elif os.path.isdir(path):
            os.makedirs(target)
            kernel.bind(path, target)
        elif os.path.isfile(path):
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
            kernel.bind(path, target)
    kernel.hide(before)
    os.makedirs(root + OF_THE_JOB)
    kernel.bind(host, root + OF_THE_JOB, writable=True)
    kernel.mount("none", above, kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | _SAFE)


def _show_device(path: str, root: str) -> None:
    """Show a device, whose mode and owner cannot be changed."""
    if not os.path.exists(path):
        return
    target = root + path
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    show_device(path, target)


def _show_kernel(root: str, *, has_processes: bool) -> None:
    flags = _SAFE | kernel.NO_PROGRAMS | kernel.READ_ONLY
    if has_processes:
        kernel.mount("proc", f"{root}/proc", flags)
    else:
        kernel.bind("/proc", f"{root}/proc")
    protect_proc(f"{root}/proc", f"{root}/dev/null")
    try:
        kernel.mount("sysfs", f"{root}/sys", flags)
    except kernel.StepFailed:
        kernel.bind("/sys", f"{root}/sys")  # parts of it are hidden here
    for name in MASKED_OF_SYS:
        hide(f"{root}/sys/{name}", f"{root}/dev/null")
