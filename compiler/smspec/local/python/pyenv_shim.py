"""Find the program that a shim of pyenv starts, without pyenv: its scripts take ten times as long as Python's start."""

from __future__ import annotations

import os
import shutil


def pyenv_root() -> str:
    """Return the directory of pyenv."""
    return os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")


def program_on_path(name: str) -> str | None:
    """Return the path of a program on PATH; for a shim, that of the selected version that has the program.

    The shim itself is returned only where pyenv alone knows the version, such as the newest that begins with 3.12.
    """
    found = shutil.which(name)
    root = pyenv_root()
    shims = os.path.join(root, "shims")
    if found is None or os.path.dirname(found) != shims:
        return found
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    system = os.pathsep.join(directory for directory in path if directory != shims)
    for version in _selected_versions(root):
        directory = os.path.join(root, "versions", version)
        if version != "system" and not os.path.isdir(directory):
            return found
        selected = shutil.which(name, path=system if version == "system" else os.path.join(directory, "bin"))
        if selected is not None:
            return selected
    return shutil.which(name, path=system)


def _selected_versions(root: str) -> list[str]:
    variable = os.environ.get("PYENV_VERSION")
    return (variable.split(":") if variable else _listed_versions(root)) or ["system"]


def _listed_versions(root: str) -> list[str]:
    """Return the first word of each line of the nearest `.python-version`, or of the file for all directories."""
    for directory in (os.environ.get("PYENV_DIR"), os.getcwd()):
        while directory:
            lines = _lines(os.path.join(directory, ".python-version"))
            if lines is not None:
                return lines
            directory = os.path.dirname(directory) if directory != os.path.dirname(directory) else None
    return _lines(os.path.join(root, "version")) or []


def _lines(path: str) -> list[str] | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            words = [line.split()[0] for line in file.read(1 << 16).splitlines() if line.strip()]
    except OSError:
        return None
    return [word for word in words if not word.startswith("#")]
