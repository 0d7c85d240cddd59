"""Create virtual environments from a few links and two files, which is fast enough for every host, and cache them.

The cache has one directory per key, created once, under a lock, completely or not at all.

A layer has packages and no Python: nothing that a package brings, such as ``bin/python`` or ``pyvenv.cfg``, is started.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack

from smspec.local.python.interpreter import Interpreter
from smspec.local.running.request import RunFailed
from smspec.source.real_file import remove_tree, walked
from smspec.workspace.own_directories import (
    VARIABLE,
    cache_directory,
    existing_cache,
    make_private,
    open_cache,
    require_safe_entry,
)

_NAME = "environments"
_COMPLETE = "complete.json"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_LARGEST_SCRIPT = 1 << 20


def make_environment(root: str, interpreter: Interpreter, above: Sequence[str] = ()) -> str:
    """Create an environment without packages of its own; return its interpreter.

    ``above``: directories of packages that it finds after its own. Packages are installed only into ``root``: pip does
    not change those in other directories.
    """
    library = make_layer(root, interpreter)
    python = python_in(root)
    os.symlink(interpreter.base, python)
    for name in ("python3", f"python{interpreter.minor}"):
        os.symlink("python", os.path.join(root, "bin", name))
    lines = {
        "home": os.path.dirname(interpreter.base),
        "include-system-site-packages": "false",
        "version": interpreter.version,
    }
    _write(os.path.join(root, "pyvenv.cfg"), "".join(f"{name} = {value}\n" for name, value in lines.items()))
    if above:
        # Python runs a line that begins with `import` at startup, and also reads the `.pth` files there.
        calls = "; ".join(f"site.addsitedir({path!r})" for path in above)
        _write(os.path.join(library, "_smspec_layers.pth"), f"import site; {calls}\n")
    return python


def make_layer(root: str, interpreter: Interpreter) -> str:
    """Create the directories of packages; return the one that an interpreter imports from."""
    library = os.path.join(root, interpreter.library)
    os.makedirs(os.path.join(root, "bin"))
    os.makedirs(library)
    if not os.path.lexists(os.path.join(root, "lib64")) and interpreter.library.startswith("lib/"):
        os.symlink("lib", os.path.join(root, "lib64"))
    return library


def python_in(root: str) -> str:
    """Return the path of the interpreter of an environment."""
    return os.path.join(root, "bin", "python")


def unpack_wheels(root: str, interpreter: Interpreter) -> bool:
    """Install the bundled wheels of an interpreter, such as pip, into an environment; return whether there is a pip."""
    import zipfile  # imported late: an environment that is unpacked is used by many runs

    library = os.path.join(root, interpreter.library)
    for wheel in interpreter.wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(library)
    if not interpreter.wheels:
        for packages in interpreter.packages:
            names = os.listdir(packages)
            for name in names if "pip" in names else ():
                if name == "pip" or (name.startswith("pip-") and name.endswith(".dist-info")):
                    shutil.copytree(os.path.join(packages, name), os.path.join(library, name))
    return os.path.isdir(os.path.join(library, "pip"))


def copy_scripts(directories: Iterable[str], installer: str, python: str, seen_as: str | None = None) -> None:
    """Copy the scripts of other directories next to ``python``, so that they run on it, such as torchrun.

    ``installer``: the environment on which installers wrote them. ``seen_as``: the path of that of ``python`` where
    they run.
    """
    interpreter = python if seen_as is None else os.path.join(seen_as, "bin", os.path.basename(python))
    for directory in directories:
        for path in _scripts(directory):
            target = os.path.join(os.path.dirname(python), os.path.basename(path))
            if not os.path.lexists(target):
                _copy_script(path, (directory, os.path.join(installer, "bin")), target, interpreter)


def _scripts(directory: str) -> Iterator[str]:
    if not os.path.isdir(directory):
        return
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                status = entry.stat()
            except OSError:
                continue
            is_program = stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IXUSR
            if is_program and status.st_size <= _LARGEST_SCRIPT:
                yield entry.path


def _copy_script(path: str, directories: Sequence[str], target: str, python: str) -> None:
    """Copy a script if it runs on the Python of one of these directories."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return
    body = next((body for each in directories if (body := _body(text, os.fsencode(each))) is not None), None)
    if body is None:
        return
    # For Python the first statement is a string, for a shell a command: a path may be long and contain spaces.
    quoted = "".join(f"\\{character}" if character in '\\"$`' else character for character in python)
    with open(target, "wb") as file:
        file.write(f"#!/bin/sh\n'''exec' \"{quoted}\" \"$0\" \"$@\"\n' '''\n".encode() + body)
    os.chmod(target, 0o755)


def _body(text: bytes, directory: bytes) -> bytes | None:
    """Return a script without the lines that start a Python in ``directory``; None for any other."""
    first, _, rest = text.partition(b"\n")
    if first.startswith(b"#!" + directory + b"/python"):
        return rest
    if first == b"#!/bin/sh":
        second, _, rest = rest.partition(b"\n")
        third, _, rest = rest.partition(b"\n")
        if second.startswith(b"'''exec' ") and directory + b"/python" in second and third == b"' '''":
            return rest
    return None


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class EnvironmentCache:
    """Environments by key. Those in use stay locked, shared with other runs, until `close`."""

    def __init__(self) -> None:
        self._root = os.path.join(cache_directory(), _NAME)
        self._safe: set[str] = set()
        self._trusted: set[str] = set()
        self._held = ExitStack()

    def __enter__(self) -> EnvironmentCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def trust(self, interpreter: str) -> None:
        """Let environments have links to an interpreter, also to one of a different user: this run starts it anyway."""
        self._trusted.add(os.path.realpath(interpreter))

    def path(self, key: str) -> str:
        return os.path.join(self._root, key)

    def has(self, key: str) -> bool:
        """Return whether an environment exists and is complete. Raise UnsafeCache if others can change it."""
        path = self.path(key)
        if key not in self._safe:
            if existing_cache(_NAME) is None or not os.path.isfile(os.path.join(path, _COMPLETE)):
                return False
            require_safe_entry(path, self._trusted)
            self._safe.add(key)
        return os.path.isfile(os.path.join(path, _COMPLETE))

    def hold(self, key: str, make: Callable[[str, int], None], wait: Callable[[], None]) -> str:
        """Return the directory of an environment, which ``make`` fills if it does not exist.

        ``make`` gets the directory, and the lock: a process that writes there holds it too, so that the environment is
        not created a second time before that process has ended. ``wait`` is called while another run is creating it.
        After a failure, the incomplete environment is removed, by this run or by the next one.
        """
        path = self.path(key)
        lock = self._locked(key, fcntl.LOCK_SH, wait)
        if not self.has(key):
            fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)
            lock = self._locked(key, fcntl.LOCK_EX, wait)
            with ExitStack() as undo:
                undo.callback(os.close, lock)
                if not self.has(key):
                    self._make(path, lock, make)
                undo.pop_all()
            fcntl.flock(lock, fcntl.LOCK_SH)
        self._held.callback(os.close, lock)
        return path

    def _make(self, path: str, lock: int, make: Callable[[str, int], None]) -> None:
        if os.path.lexists(path):
            remove_tree(path)
        with ExitStack() as undo:
            undo.callback(remove_tree, path, ignore_errors=True)
            try:
                os.makedirs(path, 0o700)
                make(path, lock)
                make_private(path)
                _protect(path)
                unfinished = os.path.join(path, f"{_COMPLETE}.part")
                with open(unfinished, "w", encoding="utf-8") as file:
                    json.dump({"format": 1}, file)
                os.chmod(unfinished, 0o644)
                os.rename(unfinished, os.path.join(path, _COMPLETE))
            except OSError as fault:
                if fault.errno in _NO_ROOM:
                    raise self._unusable(fault) from None
                raise
            undo.pop_all()

    def _unusable(self, fault: OSError) -> RunFailed:
        reason = (fault.strerror or str(fault)).lower()
        return RunFailed(
            3, f"cannot write Python environments to `{self._root}`: {reason}; set {VARIABLE} to a different directory"
        )

    def _locked(self, key: str, kind: int, wait: Callable[[], None]) -> int:
        name = os.path.join(self._root, f"{key}.lock")
        while True:
            try:
                open_cache(_NAME)
                lock = _opened(name, kind)
            except OSError as fault:
                raise self._unusable(fault) from None
            with ExitStack() as undo:
                undo.callback(os.close, lock)
                try:
                    fcntl.flock(lock, kind | fcntl.LOCK_NB)
                except BlockingIOError:
                    if kind == fcntl.LOCK_SH and self.has(key):
                        # A reader of a shared cache can lock it for ever, and a complete one is not written to.
                        undo.pop_all()
                        return lock
                    wait()
                    fcntl.flock(lock, kind)
                # The cache may have been emptied meanwhile.
                if os.path.exists(name) and os.path.samestat(os.stat(name), os.fstat(lock)):
                    undo.pop_all()
                    return lock


def _opened(name: str, kind: int) -> int:
    try:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        # In a cache of root that is shared, users may only read.
        if kind != fcntl.LOCK_SH or not os.path.exists(name):
            raise
        return os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)


def _protect(root: str) -> None:
    """Remove write permission from files, not from directories: `rm -r` still removes them without a question."""
    for directory, _, names in walked(root):
        for name in names:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                os.chmod(path, stat.S_IMODE(status.st_mode) & ~0o222)
