"""What a program can be given as arguments and environment."""

import os

from .lean_typing import Dict, Mapping, Sequence
from .log import log

_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def python_path(environ: Mapping[str, str], code: str) -> str:
    """Return PYTHONPATH: the code first, if any, what the container has, the runtime's own directory last."""
    entries = [code, *environ.get("PYTHONPATH", "").split(os.pathsep)]
    # Its own interpreter finds the runtime anyway; another must not find the packages beside it.
    if os.path.basename(_RUNTIME) not in ("site-packages", "dist-packages"):
        entries.append(_RUNTIME)
    return os.pathsep.join(filter(None, dict.fromkeys(entries)))


def carried_variables(variables: Mapping[str, str]) -> Dict[str, str]:
    """Return those that a program can be given; the log says which cannot be, and why."""
    carried = {}
    for name, value in variables.items():
        obstacle = obstacle_to([f"{name}={value}"])
        if not obstacle and (not name or "=" in name):
            obstacle = "no variable can have this name"
        if obstacle:
            log(f"{name!a} is left out of the environment: {obstacle}; it is in input/config")
        else:
            carried[name] = value
    return carried


def obstacle_to(words: Sequence[str]) -> str:
    """Return why these cannot be given to a program, or nothing."""
    # Linux starts no program with a string of more than 32 pages (MAX_ARG_STRLEN), the final NUL included.
    longest = 32 * os.sysconf("SC_PAGE_SIZE")
    try:
        if max(map(len, map(os.fsencode, words)), default=0) >= longest:
            return f"it is longer than {longest} bytes"
    except UnicodeEncodeError:
        return "it holds a character that has no encoding"
    return "it holds a NUL" if any("\0" in word for word in words) else ""
