"""The directories of smspec itself: its cache, and the temporary directory of a command.

The cache can be removed at any time, and only its owner or root can change what is in it: commands run and install what
is there. It is therefore refused if an owner other than the user or root, or a permission to write, lets a different
user change it, or replace a directory on the path to it. Temporary directories that killed commands left behind are
removed by the next one.
"""

from __future__ import annotations

import errno
import fcntl
import functools
import os
import shlex
import stat
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from smspec.source.real_file import MOST_LINKS, remove_tree, walked
from smspec.workspace.boundary_search import repository_above
from smspec.workspace.deferred_signals import signals_deferred

VARIABLE = "SMSPEC_CACHE_DIR"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ACCESS_LIST = "system.posix_acl_access"
PREFIX = "smspec-tmp-"

_PLACE = "d"
"""The directory in use is one level below the locked one: a build also locks the directory that it is written to."""


class UnsafeCache(Exception):
    """A different user could change what is in the cache: exit status 3."""


def cache_directory() -> str:
    """Return the directory of smspec's cache: SMSPEC_CACHE_DIR, or the default of the system."""
    named = os.environ.get(VARIABLE)
    if named:
        return os.path.abspath(named)
    above = os.environ.get("XDG_CACHE_HOME")
    if not (above and os.path.isabs(above)):
        above = os.path.expanduser("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    return os.path.join(os.path.abspath(above), "smspec")


def open_cache(name: str) -> str:
    """Return a directory of the cache, created for this user alone if missing. Raise `UnsafeCache` or OSError."""
    path = os.path.join(cache_directory(), name)
    _require_path(path, is_made=True)
    return path


def existing_cache(name: str) -> str | None:
    """Return a directory of the cache; None if it is missing or cannot be reached. Raise `UnsafeCache`."""
    path = os.path.join(cache_directory(), name)
    try:
        _require_path(path, is_made=False)
    except OSError:
        return None
    return path


def require_safe_entry(path: str, trusted: Collection[str] = ()) -> None:
    """Raise `UnsafeCache` if a different user can change anything in an entry of an open cache, or where a link leads.

    Nobody else can change what is in a directory that has passed, so what is below it stays as it was seen.
    ``trusted``: files, without links, that smspec runs anyway, such as the Python of an environment.
    """
    seen, ahead = set(), [path]
    while ahead:
        path = ahead.pop()
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        _require(path, status, is_above=False)
        if stat.S_ISLNK(status.st_mode):
            ahead += () if os.path.realpath(path) in trusted else _target(path)
        elif stat.S_ISDIR(status.st_mode) and (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as entries:
                ahead += (entry.path for entry in entries)


def make_private(path: str) -> None:
    """Take from others the permission to write to a new entry, whatever the umask and the modes in archives."""
    for directory, names, files in walked(path):
        for each in (directory, *(os.path.join(directory, name) for name in (*names, *files))):
            mode = os.lstat(each).st_mode
            if not stat.S_ISLNK(mode) and mode & _OTHERS:
                os.chmod(each, stat.S_IMODE(mode) & ~_OTHERS)


def _require_path(path: str, *, is_made: bool) -> None:
    cache = cache_directory()
    _require_untracked(cache)
    # So many steps are left when the cache itself is reached; a link only adds to them.
    at = _require_way(path, len(path[len(cache) :].strip("/").split("/")), is_made=is_made)
    if not os.path.isdir(at):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), at)


@functools.cache
def may_be_tracked(directory: str) -> bool:
    """Return whether git tracks anything in a directory, or cannot tell: a pull request may bring programs there.

    A cache, or a directory of Pythons, is in a repository where a CI can keep files only there.
    """
    if repository_above(directory) is None:
        return False
    from smspec.workspace.project_links import Project  # imported late: most caches are in no repository

    return any(Project(place).tracked([place]) is not None for place in {directory, os.path.realpath(directory)})


def _require_untracked(cache: str) -> None:
    """Raise `UnsafeCache` if a pull request may bring the Python of a job."""
    if may_be_tracked(cache):
        raise UnsafeCache(
            f"the cache `{cache}` is not safe: git tracks files there, or cannot list what it tracks, and smspec runs"
            f" what is in it, which may be that of a pull request; set {VARIABLE} to a directory without such files"
        )


def _target(link: str) -> list[str]:
    """Return the target of a link whose way there only its owners can change; none if there is no target."""
    try:
        return [_require_way(link, 0, is_made=False)]
    except FileNotFoundError as fault:
        above = os.path.dirname(fault.filename)
        _require(above, os.lstat(above), is_above=False)  # others could create it there
    except OSError:
        pass  # neither can the job follow it
    return []


def _require_way(path: str, inside: int, *, is_made: bool) -> str:
    """Check every step from the root to ``path``, top-down, so that none can be replaced once it was seen.

    Return the path without links. Before the last ``inside`` steps, directories are above what is checked.
    """
    at, links = "", 0
    ahead = path.split("/")[::-1]
    _require("/", os.lstat("/"), is_above=True)
    while ahead:
        name = ahead.pop()
        if name in ("", "."):
            continue
        if name == "..":
            at = os.path.dirname(at)
            continue
        at = f"{at.rstrip('/')}/{name}"
        status = _status(at, is_made=is_made)
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), at)
            _require_owner(at, status, is_above=len(ahead) > inside)
            target = os.readlink(at)
            at = "" if target.startswith("/") else os.path.dirname(at)
            ahead += target.split("/")[::-1]
            continue
        if ahead and not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), at)
        _require(at, status, is_above=len(ahead) > inside)
    return at or "/"


def _status(path: str, *, is_made: bool) -> os.stat_result:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        if not is_made:
            raise
    try:
        os.makedirs(path, 0o700)
    except FileExistsError:
        pass  # by a different process, maybe that of another user: it is looked at like any other
    return os.lstat(path)


def _require(path: str, status: os.stat_result, *, is_above: bool) -> None:
    """``is_above``: a directory around the cache, in which the sticky bit keeps others from replacing what is ours."""
    _require_owner(path, status, is_above=is_above)
    mode = status.st_mode
    if stat.S_ISLNK(mode) or not mode & _OTHERS or (is_above and mode & stat.S_ISVTX):
        return
    if mode & stat.S_IWOTH or not _is_private_group(status) or _has_access_list(path):
        raise _unsafe(path, f"others can write to `{path}` (mode {stat.S_IMODE(mode):04o})")


def _require_owner(path: str, status: os.stat_result, *, is_above: bool) -> None:
    if status.st_uid not in (0, os.geteuid()) and not (is_above and _is_unmapped(status.st_uid)):
        raise _unsafe(path, f"`{path}` belongs to {_user(status.st_uid)}, who can change it")


def _unsafe(path: str, why: str) -> UnsafeCache:
    cache = cache_directory()
    remove = f"run `rm -r {shlex.quote(path)}`, or " if path.startswith(f"{cache}/") else ""
    return UnsafeCache(
        f"the cache `{cache}` is not safe: {why}, and smspec runs what is in it; {remove}set {VARIABLE} to a directory"
        " that only you can write to"
    )


def _user(number: int) -> str:
    import pwd  # imported late: only errors need it

    try:
        return f"`{pwd.getpwuid(number).pw_name}` (uid {number})"
    except KeyError:
        return f"uid {number}"


def _is_private_group(status: os.stat_result) -> bool:
    """Return whether a group has no member but the owner: with such groups, many systems have a umask of 002."""
    import grp  # imported late, as is `pwd`: few directories are writable for a group
    import pwd

    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return (
        group.gr_name == owner.pw_name
        and set(group.gr_mem) <= {owner.pw_name}
        and all(user.pw_uid == owner.pw_uid for user in pwd.getpwall() if user.pw_gid == status.st_gid)
    )


def _has_access_list(path: str) -> bool:
    """Return whether single users have permissions, of which the bits for the group show only the maximum."""
    if not hasattr(os, "getxattr"):
        return False
    try:
        return bool(os.getxattr(path, _ACCESS_LIST, follow_symlinks=False))
    except OSError:
        return False


def _is_unmapped(number: int) -> bool:
    """Return whether this is what a user namespace shows for owners outside of it, such as the root of the machine."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            known = sum(int(line.split()[2]) for line in file)
        with open("/proc/sys/kernel/overflowuid", encoding="ascii") as file:
            return known < 0xFFFFFFFF and number == int(file.read())
    except (OSError, ValueError, IndexError):
        return False


@contextmanager
def temporary_directory(parent: str | None = None, prefix: str = PREFIX) -> Iterator[str]:
    """Create a directory and remove it afterwards, whatever signals come; within `signals_interrupt`, however many.

    ``parent``: the directory around it, that of the system by default. ``prefix``: how names of such directories begin.

    SIGKILL leaves it behind. The next command removes it: the kernel has released its lock.
    """
    import tempfile  # imported late, as below: the cache does not need it

    made: list[tuple[str, int]] = []
    try:
        try:
            with signals_deferred():
                _remove_abandoned(parent or tempfile.gettempdir(), prefix)
                made.append(_locked_directory(parent, prefix))
            place = os.path.join(made[0][0], _PLACE)
            os.makedirs(place)
            yield place
        finally:
            _remove(made)
    finally:
        _remove(made)  # again: a signal may have interrupted the first call before it deferred signals


def _remove(made: list[tuple[str, int]]) -> None:
    with signals_deferred():
        while made:
            directory, lock = made[-1]
            remove_tree(directory, ignore_errors=True)
            made.pop()
            os.close(lock)


def _locked_directory(parent: str | None, prefix: str) -> tuple[str, int]:
    """Create a directory and lock it. A different command may remove it in between, taking it for an abandoned one."""
    import tempfile

    while True:
        directory = tempfile.mkdtemp(prefix=prefix, dir=parent)
        try:
            lock = _opened(directory)
        except FileNotFoundError:
            continue
        with suppress(OSError):  # some file systems have no locks; abandoned directories are not removed there
            fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(directory) and os.path.samestat(os.stat(directory), os.fstat(lock)):
            return directory, lock
        os.close(lock)


def _remove_abandoned(parent: str, prefix: str) -> None:
    # Cleanup is optional: what cannot be listed, locked, or removed stays.
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
                    _remove_if_abandoned(entry)


def _remove_if_abandoned(entry: os.DirEntry[str]) -> None:
    if entry.stat(follow_symlinks=False).st_uid != os.getuid():
        return
    lock = _opened(entry.path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(entry.path, ignore_errors=True)
    finally:
        os.close(lock)


def _opened(directory: str) -> int:
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
