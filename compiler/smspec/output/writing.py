"""Write a tree to a directory atomically: build it next to the target, then replace the target by it in one step.

Of an existing directory: may smspec replace all of it, and how does it differ from a tree?
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Literal

from smspec.diagnostics.quoting import system_reason
from smspec.output.atomic_file import OutputFailed, OutputRefused
from smspec.output.contents import chunks, expected_digest, in_order_of_making, is_executable
from smspec.render.image_settings import EPOCH
from smspec.render.tree import MANIFEST, UNFINISHED, CopiedFile, FileTree, TreeFile, manifested_files
from smspec.source.frozen import dataclass
from smspec.source.real_file import remove_tree, sha256_of
from smspec.workspace.deferred_signals import signals_deferred
from smspec.workspace.project_links import tracked_link, written_outside

_LARGEST_MANIFEST = 64 << 20


def stranger(directory: str) -> str | None:
    """Return one path in a directory that no smspec manifest lists, or None: it is empty, or smspec wrote all of it.

    Raise FileNotFoundError if there is no such directory.
    """
    present = sorted(os.listdir(directory))
    if not present:
        return None
    listed = _manifested(directory)
    if listed is None:
        return present[0]  # without a look below: it may be a home directory, or the whole disk
    known = with_directories(listed)
    return min((path for path in paths(directory) if path not in known), default=None)


def with_directories(files: Iterable[str]) -> frozenset[str]:
    """Return the paths of files and of all directories above them."""
    known = set(files)
    return frozenset(known | {path[:at] for path in known for at, character in enumerate(path) if character == "/"})


def paths(directory: str) -> Iterator[str]:
    """Yield, with ``/``, the path of every file and empty directory below a directory; links are not followed."""
    with os.scandir(directory) as entries:
        for entry in entries:
            below = list(paths(entry.path)) if entry.is_dir(follow_symlinks=False) else []
            yield from (f"{entry.name}/{path}" for path in below) if below else (entry.name,)


def is_regular_file(path: str) -> bool:
    """Return whether there is a regular file, not a symbolic link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _manifested(directory: str) -> frozenset[str] | None:
    path = os.path.join(directory, MANIFEST)
    if not is_regular_file(path):
        return None
    with open(path, "rb") as file:
        return manifested_files(file.read(_LARGEST_MANIFEST))


@dataclass(frozen=True, slots=True)
class PathDifference:
    """One path that a build would add, change, or remove."""

    path: str
    kind: Literal["missing", "changed", "unlisted"]

    def __str__(self) -> str:
        return f"{self.path}: {self.kind}"


def differences(tree: FileTree, directory: str) -> list[PathDifference]:
    """Return how a directory differs from a tree, sorted by path, without writing anything. Raise `OutputFailed`."""
    try:
        return sorted(_differences(tree, directory), key=lambda difference: difference.path.encode(errors="replace"))
    except OSError as fault:
        raise OutputFailed(f"cannot read `{fault.filename or directory}`: {system_reason(fault)}") from fault


def _differences(tree: FileTree, directory: str) -> list[PathDifference]:
    found: list[PathDifference] = []
    digests: dict[str, str] = {}
    for file in in_order_of_making(tree.files):
        digests[file.path] = expected_digest(file, digests)
        path = os.path.join(directory, *file.path.split("/"))
        if not os.path.lexists(path):
            found.append(PathDifference(file.path, "missing"))
        elif not is_regular_file(path) or _state(path) != (digests[file.path], is_executable(file)):
            found.append(PathDifference(file.path, "changed"))
    if os.path.isdir(directory):
        known = with_directories(digests)
        found += [PathDifference(path, "unlisted") for path in paths(directory) if path not in known]
    return found


def _state(path: str) -> tuple[str, bool]:
    with open(path, "rb", buffering=0) as file:
        executable = bool(os.fstat(file.fileno()).st_mode & stat.S_IXUSR)
        return sha256_of(file), executable


_TIMES = (EPOCH, EPOCH)
"""Of the last access and the last change: an image contains the times of the files that its build copies."""
_NANOSECONDS = 10**9
COLLECTING = f"{UNFINISHED}collect-"
"""The prefix of a directory's name while a result is collected there, which may take hours, under its own lock."""

_MANY = 200
"""From so many files on, the file system is synced instead of each file."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_HERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})


def write_tree(tree: FileTree, directory: str) -> None:
    """Make ``directory`` contain exactly the files of ``tree``.

    Replace an existing directory if it is empty or smspec wrote it; otherwise raise `OutputRefused` and change nothing.
    On any other failure raise `OutputFailed` and keep the existing directory. A kill at any moment leaves the old
    directory or the new one, and perhaps an unfinished one next to it, which the next run removes.
    """
    target = os.path.realpath(directory)
    parent = os.path.dirname(target)
    try:
        _check_replaceable(target, directory)  # before anything is created
    except OutputRefused:  # another build may have replaced it between the look at its manifest and that at its files
        with as_output_failed(directory), _locked(parent):
            _check_replaceable(target, directory)
    with as_output_failed(directory), made_directory(parent), _locked(parent) as alone:
        _check_replaceable(target, directory)
        if alone:
            _remove_unfinished(parent)
        unfinished = os.path.join(parent, f"{UNFINISHED}{os.getpid()}-{os.urandom(4).hex()}")
        try:
            made = _build(tree, unfinished)
            _keep(tree, unfinished, made)
            _check_replaceable(target, directory)  # again: building takes a while
            put_in_place(unfinished, target)
            _sync_directory(parent)
        finally:
            with signals_deferred():
                remove_tree(unfinished, ignore_errors=True)


def check_replaceable(directory: str) -> None:
    """Raise `OutputRefused` or `OutputFailed` unless smspec may create or replace a directory."""
    _check_replaceable(os.path.realpath(directory), directory)


def put_directory(finished: str, directory: str) -> None:
    """Give a finished directory next to ``directory`` its name, as `write_tree` does. What was there has then its name.

    The directory above must exist.
    """
    target = os.path.realpath(directory)
    parent = os.path.dirname(target)
    with as_output_failed(directory), _locked(parent):
        _check_replaceable(target, directory)
        put_in_place(finished, target)
        _sync_directory(parent)


def write_temporary_tree(tree: FileTree, directory: str) -> None:
    """Write ``directory``, which is new and temporary, with the files of ``tree``. Raise `OutputFailed`.

    Do not sync it to the disk: behind gigabytes of pending writes, that takes seconds.
    """
    with as_output_failed(directory):
        _build(tree, directory)


def _check_replaceable(target: str, directory: str) -> None:
    link = tracked_link(directory)
    if link is not None:
        raise OutputFailed(written_outside(link))
    try:
        found = stranger(target)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        if os.path.lexists(target):
            raise OutputRefused(f"`{directory}` is a file; pass a directory with -o") from None
        return  # a file is in the way: creating the directory will report it
    except OSError as fault:
        raise OutputFailed(f"cannot read `{fault.filename or directory}`: {system_reason(fault)}") from fault
    if found is not None:
        raise OutputRefused(f"refusing to overwrite `{os.path.join(directory, found)}`: smspec did not create it")


def _build(tree: FileTree, root: str) -> set[str]:
    """Write every file below ``root``, which is new; return the directories."""
    _make_directory(root)
    made = {root}
    digests: dict[str, str] = {}
    for file in in_order_of_making(tree.files):
        path = os.path.join(root, *file.path.split("/"))
        for directory in () if os.path.dirname(path) in made else _directories_above(path, root):
            if directory not in made:
                _make_directory(directory)
                made.add(directory)
        digests[file.path] = _write(file, path, digests)
    for directory in made:
        os.utime(directory, _TIMES)
    return made


def _keep(tree: FileTree, root: str, made: set[str]) -> None:
    """Sync the tree to the disk: many files at once where the system can, since each waits for the journal."""
    if len(tree.files) > _MANY and _sync_file_system(root):
        return
    for file in tree.files:
        _sync(os.path.join(root, *file.path.split("/")))
    for directory in made:
        _sync_directory(directory)


def _write(file: TreeFile, path: str, digests: dict[str, str]) -> str:
    # A copied file is compared with its digest while it is read: large ones would be digested twice.
    known = file.file.sha256 if isinstance(file, CopiedFile) else None
    digest = hashlib.sha256()
    with open(path, "xb", buffering=0) as target:
        for chunk in chunks(file, digests):
            if known is None:
                digest.update(chunk)
            rest = memoryview(chunk)
            while rest:
                rest = rest[target.write(rest) :]
        found = known or digest.hexdigest()
        os.fchmod(target.fileno(), 0o755 if is_executable(file) else 0o644)  # whatever the umask
        os.utime(target.fileno(), ns=_times_of(bytes.fromhex(found)))
    return found


def _times_of(digest: bytes) -> tuple[int, int]:
    """Return the times of a file with this digest: the fixed second, and a fraction of it that shows its content.

    BuildKit takes a file of the same path, size, and time for the one of an earlier build, and does not read it. Layers
    of images contain whole seconds.
    """
    time = EPOCH * _NANOSECONDS + int.from_bytes(digest[:8], "big") % _NANOSECONDS
    return time, time


def _make_directory(path: str) -> None:
    os.makedirs(path)
    os.chmod(path, 0o755)


def _directories_above(path: str, root: str) -> Iterator[str]:
    """Yield the directories between ``root`` and a file, the outermost first."""
    steps = os.path.relpath(os.path.dirname(path), root).split(os.sep)
    return (os.path.join(root, *steps[:length]) for length in range(1, len(steps) + 1) if steps != [os.curdir])


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_file_system(path: str) -> bool:
    """Sync everything on the file system of a directory, and return True; False where that cannot be done."""
    import ctypes  # imported late: few trees have so many files

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        return False
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if syncfs(descriptor) == 0:
            return True
        code = ctypes.get_errno()
    finally:
        os.close(descriptor)
    if code in _NOT_HERE:
        return False
    raise OSError(code, os.strerror(code), path)


def _sync_directory(path: str) -> None:
    with contextlib.suppress(OSError):  # some file systems do not support it
        _sync(path)


@contextlib.contextmanager
def as_output_failed(directory: str) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        # A path below the unfinished directory means nothing to the user.
        culprit = fault.filename if isinstance(fault.filename, str) and UNFINISHED not in fault.filename else directory
        raise OutputFailed(f"cannot write `{directory}`: {system_reason(fault)} (`{culprit}`)") from fault


@contextlib.contextmanager
def made_directory(directory: str) -> Iterator[None]:
    """Create a directory and its parents; remove them again if what follows fails and they are empty."""
    new: list[str] = []
    missing = directory
    while not os.path.lexists(missing):
        new.append(missing)
        missing = os.path.dirname(missing)
    try:
        os.makedirs(directory, exist_ok=True)
        yield
    finally:
        with signals_deferred():
            for path in new:
                with contextlib.suppress(OSError):  # not empty: it is in use
                    os.rmdir(path)


@contextlib.contextmanager
def _locked(directory: str) -> Iterator[bool]:
    """Wait until no other build writes to a directory; yield False where directories cannot be locked."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # a network file system may have no locks; the rename is atomic there too
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _remove_unfinished(parent: str) -> None:
    """Remove the unfinished output of killed builds. Under the lock no other build is active here."""
    with os.scandir(parent) as entries:
        names = [entry.name for entry in entries]
    left = [name for name in names if name.startswith(UNFINISHED) and not name.startswith(COLLECTING)]
    for name in left:
        remove_tree(os.path.join(parent, name), ignore_errors=True)


def put_in_place(finished: str, directory: str) -> None:
    """Rename ``finished`` to ``directory``; the previous one then has the name ``finished``, or is removed if empty.

    Linux swaps the two names at once (renameat2, RENAME_EXCHANGE). Where that is not available, there is a moment
    between two renames in which neither the old directory nor the new one has the name.
    """
    try:
        os.rename(finished, directory)  # there is no such directory, or an empty one
    except OSError as fault:
        if fault.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        if not _exchange(finished, directory):
            aside = f"{finished}.old"
            os.rename(directory, aside)
            try:
                os.rename(finished, directory)
            except OSError:
                os.rename(aside, directory)
                raise
            os.rename(aside, finished)


def _exchange(one: str, other: str) -> bool:
    """Swap two names and return True, or return False where the system or the file system cannot."""
    import ctypes  # imported late: few commands replace a directory

    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_HERE:
        return False
    raise OSError(code, os.strerror(code), other)
