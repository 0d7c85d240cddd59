"""The files of this machine that a host sees besides its system: the job's Python, and the author's credentials."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from smspec.local.engines.namespace.cell.plan import Bind
from smspec.local.python.interpreter import Interpreter
from smspec.source.real_file import is_below

_OF_HOME = (".aws", ".pip", ".config/pip", ".netrc")
_FILES_IN_VARIABLES = (
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy")
SHOWN = ("/bin", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/sbin", "/usr")
"""The directories of the system that hosts see."""

_SEARCHED = ("/etc", "/gnu", "/nix", "/opt", "/usr")
_OF_PACKAGES = frozenset(
    {"/gnu/store", "/nix/store"}
    | {
        f"/usr/{name}"
        for name in ("bin", "include", "lib", "lib32", "lib64", "libexec", "libx32", "sbin", "share", "src")
    }
)
_MOST_FILES = 300_000
"""Of the system, which take half a second; an /opt of a network can have millions."""

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg")
_OF_THE_SYSTEM = ("/boot/", "/dev/", "/etc/", "/proc/", "/run/", "/sys/", "/var/run/")
_LEAST_DEPTH = 2
"""Neither `/` nor a directory in it is a project."""

_PREFIXES = ("AWS_", "PIP_", "SMSPEC_STOP_GRACE")


def kept_variables(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the author's variables that a host gets: how to reach AWS, an index, and the network."""
    return {
        name: value
        for name, value in inherited.items()
        if name.startswith(_PREFIXES) or name in _FILES_IN_VARIABLES or name.lower() in _PROXIES
    }


def python_binds(places: Iterable[str]) -> list[Bind]:
    """Return binds for a Python and its packages, each at its own path."""
    found = dict.fromkeys(os.path.abspath(place) for place in places)
    real = dict.fromkeys(os.path.realpath(place) for place in found)
    return [Bind(place, place) for place in _outermost({**found, **real}) if not _contains_home(place)]


def named_places(interpreter: Interpreter) -> tuple[list[str], list[str]]:
    """Return the places that packages of an author's Python name, such as editable installs: the safe ones, and others.

    The author of a package decides what it names. A place counts only if it is in a Python project of the author, has
    nothing hidden in its path, and contains no socket or FIFO, through which a program of this machine listens.
    """
    own = [os.path.realpath(path) for path in (*interpreter.homes, *interpreter.packages)]
    named = [*interpreter.paths, *(place for packages in interpreter.packages for place in _editable(packages))]
    # The first one is the directory of the environment, which the author has chosen with its interpreter.
    named = [path for path in dict.fromkeys(named) if path != interpreter.paths[0] and os.path.exists(path)]
    foreign = [path for path in named if not any(is_below(os.path.realpath(path), above) for above in own)]
    safe = [path for path in foreign if _is_project(os.path.realpath(path))]
    return safe, [path for path in foreign if path not in safe]


class Listening(NamedTuple):
    """``paths`` of sockets and FIFOs; ``unsearched``: directories of the system that were not searched to the end."""

    paths: list[str]
    unsearched: list[str]


def sockets_below(places: Iterable[str], listed: Iterable[str] = ()) -> Listening:
    """Return the sockets and FIFOs that hosts would see in places, in ``listed`` ones, and in the system.

    A program of this machine listens there, also on a read-only mount. Places and directories of the system are
    searched: the kernel lists neither relative paths nor the sockets of other network namespaces. In what packages of
    the system or smspec install, which is large and has no sockets, those that the kernel lists are enough.
    """
    real = [os.path.realpath(place) for place in places]
    found = [
        path
        for path in _listening()
        if any(is_below(path, place) for place in (*SHOWN, *real, *map(os.path.realpath, listed)))
    ]
    of_system, unsearched = special_files([*_SEARCHED, *map(os.path.realpath, _SEARCHED)], _MOST_FILES)
    ahead = [place for place in real if os.path.isdir(place) and not any(is_below(place, each) for each in SHOWN)]
    of_places, too_long = special_files(ahead)
    return Listening(list(dict.fromkeys([*found, *of_system, *of_places])), [*unsearched, *too_long])


def special_files(tops: Iterable[str], most: float = math.inf) -> tuple[list[str], list[str]]:
    """Return what below some directories is not a file, directory, or link, and those not searched to the end.

    They have more than ``most`` files, or a path that is longer than the system takes.
    """
    found: list[str] = []
    too_long: set[str] = set()
    ahead = deque((top, top) for top in dict.fromkeys(tops))
    while ahead:
        top, directory = ahead.popleft()
        if most < 0:
            return found, sorted({top, *too_long, *(above for above, _ in ahead)})
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    most -= 1
                    if entry.is_file(follow_symlinks=False):
                        continue  # as most are
                    if entry.is_dir(follow_symlinks=False):
                        if entry.path not in _OF_PACKAGES:
                            ahead.append((top, entry.path))
                    elif not entry.is_symlink():
                        found.append(entry.path)
        except OSError as fault:
            if fault.errno == errno.ENAMETOOLONG:  # step by step, the host can
                too_long.add(top)
    return found, sorted(too_long)


def unsearched_place(directory: str) -> str:
    """Return what is not confined where the search for sockets had to end."""
    return f"sockets in {directory}, which has too many files or too long paths to search"


def _listening() -> list[str]:
    """Return the paths of the Unix sockets of this machine."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            words = [line.rstrip("\n").split(maxsplit=7) for line in file]
    except OSError:
        return []
    return [os.path.realpath(each[7]) for each in words if len(each) > 7 and each[7].startswith("/")]


def author_binds(variables: Mapping[str, str]) -> list[Bind]:
    """Return binds for the author's settings of AWS and pip, and for files that variables name."""
    home = os.path.expanduser("~")
    binds = [Bind(os.path.join(home, name), f"/root/{name}") for name in _OF_HOME]
    named = [os.path.abspath(variables[name]) for name in _FILES_IN_VARIABLES if variables.get(name)]
    return [bind for bind in [*binds, *(Bind(path, path) for path in named)] if os.path.exists(bind.source)]


def _outermost(places: Iterable[str]) -> list[str]:
    """Return the places that are not below another one."""
    kept: list[str] = []
    for place in sorted(places):
        if place != "/" and not any(place.startswith(f"{above}/") for above in kept):
            kept.append(place)
    return kept


def _editable(directory: str) -> Iterator[str]:
    """Yield the sources of distributions that are installed as links to them (PEP 610)."""
    try:
        names = [name for name in os.listdir(directory) if name.endswith(".dist-info")]
    except OSError:
        return
    for name in names:
        try:
            with open(os.path.join(directory, name, "direct_url.json"), encoding="utf-8") as file:
                origin = json.load(file)
            if origin["dir_info"].get("editable"):
                yield unquote(urlsplit(origin["url"]).path)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue


def _is_project(place: str) -> bool:
    """Return whether a place without links is a Python project of the author or root, or its directory of packages."""
    if not os.path.isabs(place) or any(part.startswith(".") for part in place.split(os.sep)):
        return False
    if place.startswith(_OF_THE_SYSTEM) or place.count(os.sep) < _LEAST_DEPTH or _contains_home(place):
        return False
    status = os.stat(place)
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & stat.S_IWOTH:
        return False
    top = place if os.path.isdir(place) else os.path.dirname(place)
    tops = [top, os.path.dirname(top)]
    is_project = any(os.path.isfile(os.path.join(above, name)) for above in tops for name in _MARKERS)
    return is_project and special_files([place]) == ([], [])


def _contains_home(place: str) -> bool:
    return is_below(os.path.realpath(os.path.expanduser("~")), place)
