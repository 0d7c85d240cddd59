"""What an operating system lets a program have as arguments and environment, and where it looks for modules."""

import os

from .arguments import Style
from .hyperparameters import Hyperparameters
from .lean_typing import Callable, Dict, Mapping, Sequence, Set
from .log import log

_ROOM_FOR_SURE = 64 << 10
_MOST_ROOM = 6 << 20
_ROOM_OF_LAUNCHERS = 32 << 10
"""For the words and variables that a launcher adds, and the program itself for its own children."""


def python_path(environ: Mapping[str, str], code: str, runtime: str) -> str:
    """Return PYTHONPATH: the code first, if any, what the container has, the runtime's own directory last.

    A directory that holds other packages too is left out: an interpreter that shares it finds the runtime anyway, and
    another must not find those packages.
    """
    entries = [entry for entry in [code, *environ.get("PYTHONPATH", "").split(os.pathsep)] if entry]
    if os.path.basename(runtime) not in ("site-packages", "dist-packages"):
        entries.append(runtime)
    return os.pathsep.join(dict.fromkeys(entries))


def carried_hyperparameters(hyperparameters: Hyperparameters, style: Style) -> Hyperparameters:
    """Return those whose arguments a program can be given; say in the log which cannot be, and why."""
    user = hyperparameters.user
    words = {name: style(hyperparameters._replace(user={name: value})) for name, value in user.items()}
    left_out = _left_out(words, lambda: _room() // 2, "arguments")
    return hyperparameters._replace(user={name: user[name] for name in user if name not in left_out})


def carried_variables(variables: Mapping[str, str], arguments: Sequence[str]) -> Dict[str, str]:
    """Return the variables that a program can be given beside its arguments; say in the log which cannot be, and why.

    Nothing is lost with them: what SageMaker says is in the files of ``input/config`` too.
    """
    strings = {name: [f"{name}={value}"] for name, value in variables.items()}
    left_out = _left_out(strings, lambda: _room() - sum(map(_size, arguments)), "environment")
    for name in variables:
        if (not name or "=" in name) and name not in left_out:
            log(f"{name!a} is left out of the environment: no variable can have this name; it is in input/config")
            left_out.add(name)
    return {name: value for name, value in variables.items() if name not in left_out}


def _left_out(strings: Mapping[str, Sequence[str]], find_room: Callable[[], int], what: str) -> Set[str]:
    """Return the names of what cannot be passed on, the longest first."""
    left_out = set()
    room = _ROOM_FOR_SURE
    used = 0
    for name in sorted(strings, key=lambda name: sum(map(len, strings[name]))):
        obstacle = next(filter(None, map(_obstacle, strings[name])), "")
        if not obstacle:
            used += sum(map(_size, strings[name]))
            if used > room == _ROOM_FOR_SURE:
                room = find_room()
            if used > room:
                obstacle = f"there is no room for more than {room} bytes"
        if obstacle:
            log(f"{name!a} is left out of the {what}: {obstacle}; it is in input/config")
            left_out.add(name)
    return left_out


def _obstacle(string: str) -> str:
    """Return why a program cannot be given a string; nothing if it can."""
    # Linux starts no program with a string of more than 32 pages (MAX_ARG_STRLEN), the final NUL included.
    longest = 32 * os.sysconf("SC_PAGE_SIZE")
    try:
        size = len(os.fsencode(string))
    except UnicodeEncodeError:
        return "it holds a character that has no encoding"
    if "\0" in string:
        return "it holds a NUL"
    return f"it is longer than {longest} bytes" if size >= longest else ""


def _size(string: str) -> int:
    return len(os.fsencode(string)) + 9  # A NUL, and the pointer to it.


def _room() -> int:
    """Return the bytes that arguments and environment may have together: a quarter of the stack, 6 MiB at most."""
    from resource import RLIMIT_STACK, getrlimit  # Late: few jobs come near it.

    stack = getrlimit(RLIMIT_STACK)[0]
    return min(stack // 4 if stack > 0 else _MOST_ROOM, _MOST_ROOM) - _ROOM_OF_LAUNCHERS
