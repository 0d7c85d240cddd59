"""Create virtual environments from a few links and two files, which is fast enough for every host.

A layer has packages and no Python: nothing that a package brings, such as ``bin/python`` or ``pyvenv.cfg``, is started.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence

from smspec.local.python.interpreter import Interpreter

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
