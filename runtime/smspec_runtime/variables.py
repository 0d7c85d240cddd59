"""What a program can be given as arguments and environment."""

import os

from .lean_typing import Dict, List, Mapping
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
    strings = {name: [f"{name}={value}"] for name, value in variables.items()}
    return {name: variables[name] for name in carried(strings, "environment")}


def carried(strings: Mapping[str, List[str]], place: str) -> List[str]:
    """Return the names whose strings can be passed on; the log says which cannot be, and why."""
    # Linux starts no program with a string of more than 32 pages (MAX_ARG_STRLEN), the final NUL included.
    longest = 32 * os.sysconf("SC_PAGE_SIZE")
    names = []
    for name, words in strings.items():
        obstacle = ""
        try:
            if max(map(len, map(os.fsencode, words)), default=0) >= longest:
                obstacle = f"it is longer than {longest} bytes"
            elif "\0" in "".join(words):
                obstacle = "it holds a NUL"
            elif place == "environment" and (not name or "=" in name):
                obstacle = "no variable can have this name"
        except UnicodeEncodeError:
            obstacle = "it holds a character that has no encoding"
        if obstacle:
            log(f"{name!a} is left out of the {place}: {obstacle}; it is in input/config")
        else:
            names.append(name)
    return names
