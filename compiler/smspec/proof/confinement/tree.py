"""The files that a process sees: a tree of mounts of its own, in which it can change few directories.

Sockets by which other programs accept orders, such as Docker's, homes, and the disks of this machine are not in it: a
socket could be reached even below a read-only mount.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from smspec.local.engines.namespace.cell import kernel

SETTINGS = "/etc"
SYSTEM = (
    SETTINGS,
    *(f"/{name}" for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "opt", "nix", "gnu"]),
)
"""Programs and libraries of this machine, as the image would have them."""

OWN_DIRECTORIES = ("/tmp", "/var/tmp", "/dev/shm")
"""In memory, and empty."""

_EMPTY = ("/dev", "/proc", "/sys", "/run", "/var", "/home", "/root", "/mnt", "/srv")
_MOUNT_POINTS = ("/mnt", "/srv", "/media", "/boot", "/run", "/home", "/var", "/root")
_DESCRIPTORS = (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"))
_SAFE = kernel.NO_SUID | kernel.NO_DEVICES
_SMALL = "mode=755,size=16m"
_MOST_LINKS = 40

_MASKED = (
    *(
        "interrupts",
        "kallsyms",
        "kcore",
        "keys",
        "key-users",
        "kpagecgroup",
        "kpagecount",
        "kpageflags",
        "latency_stats",
    ),
    *("modules", "sched_debug", "slabinfo", "timer_list", "vmallocinfo"),
)
"""Files of /proc about this machine and its other processes. Root could read them."""


_KEPT = {os.ST_NOSUID: kernel.NO_SUID, os.ST_NODEV: kernel.NO_DEVICES, os.ST_NOEXEC: kernel.NO_PROGRAMS}
_KEPT |= {os.ST_NOATIME: kernel.NO_ACCESS_TIMES, os.ST_NODIRATIME: kernel.NO_DIRECTORY_TIMES}
_KEPT |= {os.ST_RELATIME: kernel.RELATIVE_TIMES}


class Shown(NamedTuple):
    """What a process sees besides the system: what it can change, and what it can only read, without what is hidden."""

    writable: list[str]
    devices: list[str]
    places: list[str]
    hidden: list[str]


def enter(wanted: Shown, room: int, *, has_processes: bool) -> None:
    """Build the tree in new mounts, and make it the root of this process. Raise StepFailed or OSError.

    ``room``: the bytes of each directory in memory. ``has_processes``: the process is in a new namespace of them.
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
        _show(path, root)
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
    _hide_secrets(root)
    _show_kernel(root, has_processes=has_processes)
    for path in writable:
        os.makedirs(root + path, exist_ok=True)
        kernel.bind(path, root + path, writable=True)
    kernel.change_root(root)
    kernel.mount("none", "/", kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | _SAFE)
    # An earlier command may have replaced this directory by a link: that is no reason to confine less.
    os.chdir(here if os.path.isdir(here) else writable[0])


def settings(directory: str, *, public: bool) -> list[str]:
    """Return what in a directory every user can read, or what not."""
    try:
        with os.scandir(directory) as entries:
            return [entry.path for entry in entries if _is_public(entry) == public]
    except OSError:
        return []


def _is_public(entry: os.DirEntry[str]) -> bool:
    needed = 0o005 if entry.is_dir(follow_symlinks=False) else 0o004
    return entry.is_symlink() or entry.stat().st_mode & needed == needed


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


def _show(path: str, root: str) -> None:
    """Show a file or directory, read-only, unless it is in one that is shown."""
    target = root + path
    if os.path.lexists(target) and (not os.path.isdir(target) or os.path.samefile(path, target)):
        return
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    kernel.bind(path, target)


def _show_device(path: str, root: str) -> None:
    """Show a device, whose mode and owner cannot be changed."""
    if not os.path.exists(path):
        return
    target = root + path
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    kernel.mount(path, target, kernel.BIND)
    present = os.statvfs(target).f_flag
    flags = sum(flag for shown, flag in _KEPT.items() if present & shown)
    kernel.mount("none", target, kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | flags)


def _hide_secrets(root: str) -> None:
    """Hide what is in /etc and only root can read, such as the passwords of users, from root, too."""
    for path in () if os.geteuid() else settings(root + SETTINGS, public=False):
        kernel.bind(f"{root}/run" if os.path.isdir(path) else f"{root}/dev/null", path)


def _show_kernel(root: str, *, has_processes: bool) -> None:
    flags = _SAFE | kernel.NO_PROGRAMS | kernel.READ_ONLY
    if has_processes:
        kernel.mount("proc", f"{root}/proc", flags)
    else:
        kernel.bind("/proc", f"{root}/proc")
    for name in _MASKED:
        if os.path.exists(f"{root}/proc/{name}"):
            kernel.bind(f"{root}/dev/null", f"{root}/proc/{name}")
    try:
        kernel.mount("sysfs", f"{root}/sys", flags)
    except kernel.StepFailed:
        kernel.bind("/sys", f"{root}/sys")  # parts of it are hidden here
