"""Limits on arguments and environment; lookup on PATH."""

import os

from .lean_typing import Dict, Environ, Sequence
from .log import log

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_RUNTIME = os.path.dirname(_PACKAGE)
_TOOLKIT_API = _PACKAGE + "/toolkit_api"


def python_path(environ: Environ, code: str) -> str:
    """The code, what the container has, and the runtime last."""
    entries = [code, *environ.get("PYTHONPATH", "").split(os.pathsep)]
    # Others must not find its packages.
    if os.path.basename(_RUNTIME) not in ("site-packages", "dist-packages"):
        entries.append(_RUNTIME)
    if os.path.isdir(_TOOLKIT_API):
        entries.append(_TOOLKIT_API)
    return os.pathsep.join(filter(None, dict.fromkeys(entries)))


def find_on_path(name: str, environ: Environ) -> str:
    """The path of a program, or nothing."""
    paths = (os.path.join(entry or ".", name) for entry in environ.get("PATH", os.defpath).split(os.pathsep))
    return next((path for path in paths if os.access(path, os.X_OK) and os.path.isfile(path)), "")


def carried_variables(variables: Environ) -> Dict[str, str]:
    """The valid variables; log the others."""
    carried = {}
    for name, value in variables.items():
        obstacle = obstacle_to([f"{name}={value}"])
        if not name or "=" in name:
            obstacle = obstacle or "no variable can have this name"
        if obstacle:
            log(f"{name!a} is left out of the environment: {obstacle}; it is in input/config")
        else:
            carried[name] = value
    return carried


def obstacle_to(words: Sequence[str]) -> str:
    """Why the arguments are invalid, or empty."""
    # MAX_ARG_STRLEN of Linux: 32 pages, the final NUL included.
    longest = 32 * os.sysconf("SC_PAGE_SIZE")
    try:
        if max(map(len, map(os.fsencode, words)), default=0) >= longest:
            return f"it is longer than {longest} bytes"
    except UnicodeEncodeError:
        return "it holds a character that has no encoding"
    return "it holds a NUL" if any("\0" in word for word in words) else ""
