"""What an operating system lets a program have in its environment, and where it looks for modules."""

import os

from .lean_typing import Dict, Mapping
from .log import log


def python_path(environ: Mapping[str, str], code: str, runtime: str) -> str:
    """Return PYTHONPATH: the code first, what the container has, the runtime's own directory last.

    A directory that holds other packages too is left out: an interpreter that shares it finds the runtime anyway, and
    another must not find those packages.
    """
    entries = [code, *(entry for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry)]
    if os.path.basename(runtime) not in ("site-packages", "dist-packages"):
        entries.append(runtime)
    return os.pathsep.join(dict.fromkeys(entries))


def carried_variables(variables: Mapping[str, str]) -> Dict[str, str]:
    """Return the variables that a program can be given; say in the log which cannot be, and why.

    Nothing is lost with them: what SageMaker says is in the files of ``input/config`` too.
    """
    carried = {}
    for name, value in variables.items():
        obstacle = _obstacle(name, value)
        if obstacle:
            log(f"{name!a} is left out of the environment: {obstacle}; it is in input/config")
        else:
            carried[name] = value
    return carried


def _obstacle(name: str, value: str) -> str:
    """Return why a variable cannot be passed on; nothing if it can."""
    # Linux starts no program with a string of more than 32 pages (MAX_ARG_STRLEN), the final NUL included.
    longest = 32 * os.sysconf("SC_PAGE_SIZE")
    try:
        size = len(os.fsencode(name)) + len(os.fsencode(value)) + 2
    except UnicodeEncodeError:
        return "it holds a character that has no encoding"
    if "\0" in name or "\0" in value:
        return "it holds a NUL"
    if not name or "=" in name:
        return "no variable can have this name"
    return f"it is longer than {longest} bytes" if size > longest else ""
