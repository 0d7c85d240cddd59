"""Find and inspect a local interpreter, without changing it.

For a shim of pyenv, that is the program that it would start: its scripts take ten times as long as Python's start.
"""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

from smspec.local.running.request import RunFailed
from smspec.service.bare_image import bare_image
from smspec.source.frozen import dataclass
from smspec.source.real_file import OUTSIDE_PROJECTS, program_named, variables_outside
from smspec.spec.lock import LockedEnvironment
from smspec.workspace.own_directories import cache_directory, existing_cache, may_be_tracked, require_safe_entry
from smspec.workspace.process_guard import guarded

OLDEST = (3, 8)
PYTHONS = "pythons"
_SECONDS = 60
_LONGEST_LIST = 1 << 16
_FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables by which packages of the author would reach the job, or a different Python would be used."""

_PROCESSORS = {"linux/amd64": "x86_64", "linux/arm64": "aarch64", "linux/arm64/v8": "aarch64"}

_QUESTION = """
import glob, json, os, site, sys, sysconfig
scheme = "venv" if "venv" in sysconfig.get_scheme_names() else "posix_prefix"
places = {"base": "/", "platbase": "/", "installed_base": "/", "installed_platbase": "/"}
packages = list(site.getsitepackages())
if sys.prefix == sys.base_prefix:
    packages.append(site.getusersitepackages())
bundled = os.path.join(os.path.dirname(os.__file__), "ensurepip", "_bundled")
wheels = [bundled, sysconfig.get_config_var("WHEEL_PKG_DIR")]
try:
    libc = os.confstr("CS_GNU_LIBC_VERSION")
except (AttributeError, OSError, ValueError):
    libc = None
print(json.dumps({
    "executable": sys.executable,
    "base": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "version": "%d.%d.%d" % sys.version_info[:3],
    "kind": [sys.implementation.name, sys.implementation.cache_tag, sysconfig.get_platform(), libc],
    "library": sysconfig.get_path("purelib", scheme, places).lstrip("/"),
    "packages": [path for path in dict.fromkeys(packages) if os.path.isdir(path)],
    "homes": [path for path in dict.fromkeys([
        sys.base_prefix, sys.base_exec_prefix, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"),
    ]) if os.path.isdir(path)],
    "paths": [path for path in dict.fromkeys([sys.prefix, *sys.path]) if os.path.exists(path)],
    "wheels": [path for above in wheels if above for path in sorted(glob.glob(os.path.join(above, "*.whl")))],
}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """``executable`` is the path that was found, ``base`` the Python of a virtual environment, with no links: a host
    may not see them.

    ``library`` is the directory of packages in an environment. ``packages``: directories with its packages. ``wheels``:
    bundled wheels for new environments: pip. ``homes``: where its own files are; ``paths``: what it imports from.
    """

    executable: str
    base: str
    version: str
    kind: tuple[str | None, ...]
    library: str
    packages: tuple[str, ...]
    wheels: tuple[str, ...]
    homes: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def minor(self) -> str:
        """The version without the patch level."""
        return self.version.rpartition(".")[0]


def without_foreign_packages(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables without those that would import packages of the author."""
    return {name: value for name, value in variables.items() if name not in _FOREIGN and not name.startswith("CONDA_")}


def named_interpreter(name: str) -> Interpreter:
    """Return the interpreter of ``--python``. Raise RunFailed."""
    path = program_on_path(name)
    if path is None:
        raise RunFailed(3, f"cannot find `{name}`; choose a Python with --python")
    return _asked(path) or _refused(path)


def fetched_directory() -> str:
    """Return the directory of the Pythons that `fetch_python` installs."""
    return os.path.join(cache_directory(), PYTHONS)


def matching_interpreter(wanted: str) -> Interpreter | None:
    """Return an interpreter with the version ``wanted``, such as 3.12; None if this machine has none."""
    usual = _usual()
    if usual is not None and usual.minor == wanted:
        return usual
    return _with_version(wanted)


def nearest_interpreter(wanted: str) -> Interpreter:
    """Return the interpreter with the version nearest to ``wanted``, and the newer one of two. Raise RunFailed."""
    usual = _usual() or _with_version(wanted) or usual_interpreter()
    major, _, minor = wanted.partition(".")
    if major != "3" or not minor.isdigit():
        return usual
    near, farthest = int(minor), int(usual.minor.partition(".")[2])
    steps = abs(near - farthest)
    for other in sorted(
        range(max(OLDEST[1], near - steps), near + steps + 1), key=lambda each: (abs(each - near), -each)
    ):
        found = usual if other == farthest else _with_version(f"3.{other}")
        if found is not None:
            return found
    return usual


def usual_interpreter() -> Interpreter:
    """Return the first ``python3`` on PATH. Raise RunFailed."""
    first = program_on_path("python3")
    if first is None:
        raise RunFailed(3, "cannot find `python3`; choose a Python with --python")
    return _usual() or _refused(first)


def _usual() -> Interpreter | None:
    first = program_on_path("python3")
    return None if first is None else _asked(first)


def _with_version(version: str) -> Interpreter | None:
    for candidate in _candidates(version):
        # A relative UV_PYTHON_INSTALL_DIR or the like leads to what a pull request may have written.
        found = _asked(candidate) if os.path.isabs(candidate) else None
        if found is not None and found.minor == version:
            return found
    return None


def _candidates(version: str) -> Iterator[str]:
    on_path = program_on_path(f"python{version}")
    if on_path is not None:
        yield on_path
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    asdf = os.environ.get("ASDF_DATA_DIR") or os.path.expanduser("~/.asdf")
    mise = os.environ.get("MISE_DATA_DIR") or os.path.join(data, "mise")
    installed = [os.path.join(above, "installs", "python") for above in (asdf, mise)]
    for directory in (os.path.join(pyenv_root(), "versions"), *installed):
        found = sorted(glob.glob(os.path.join(glob.escape(directory), f"{version}.*", "bin", "python")))
        yield from found if found and not may_be_tracked(directory) else ()
    of_uv = os.environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(data, "uv", "python")
    found = _standalone(of_uv, version)
    yield from found if found and not may_be_tracked(of_uv) else ()
    fetched = existing_cache(PYTHONS)
    if fetched is not None:
        require_safe_entry(fetched)
        yield from _standalone(fetched, version)


def _standalone(root: str, version: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(root), f"cpython-{version}.*", "bin", "python3")))


def _refused(path: str) -> Interpreter:
    is_or_starts = "starts, outside of this project, no" if _is_script(path) else "is not"
    raise RunFailed(3, f"`{path}` {is_or_starts} Python 3.8 or later; choose a different Python with --python")


def _is_script(path: str) -> bool:
    """Return whether a program is a script, such as a shim of a version manager."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(2) == b"#!"
    return False


def ask_usual() -> None:
    """Start to ask the interpreter that most jobs run on for its properties; it answers as fast as a spec compiles."""
    first = program_on_path("python3")
    if first is not None:
        _asking(first)


@cache
def _asking(path: str) -> subprocess.Popen[bytes] | None:
    """Start an interpreter that prints its properties.

    Not in the current directory: a shim of asdf, mise, or the like starts what the files of a repository there name,
    which may be a program of a pull request.
    """
    variables = variables_outside(without_foreign_packages(os.environ))
    root = pyenv_root()
    if os.path.dirname(path) == os.path.join(root, "shims"):
        variables["PYENV_VERSION"] = ":".join(_selected_versions(root))  # what it would read here
    try:
        return subprocess.Popen(
            guarded([os.path.abspath(path), "-I", "-c", _QUESTION]),
            env=variables,
            cwd=OUTSIDE_PROJECTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None


@cache
def _asked(path: str) -> Interpreter | None:
    """Return the properties of an interpreter; None for one that the runtime does not support."""
    asked = _asking(path)
    if asked is None:
        return None
    try:
        with asked as process:
            assert process.stdin is not None and process.stdout is not None
            limit = threading.Timer(_SECONDS, process.stdin.close)  # which ends it
            limit.start()
            try:
                answer = process.stdout.read()
            finally:
                limit.cancel()
                process.stdin.close()
        members = json.loads(answer)
        members = {name: tuple(value) if isinstance(value, list) else value for name, value in members.items()}
        found = Interpreter(**members)
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    return found if tuple(map(int, re.findall(r"\d+", found.version)))[:2] >= OLDEST else None


def fits(interpreter: Interpreter, environment: LockedEnvironment) -> bool:
    """Return whether the files of a locked environment, which have hashes, are those for an interpreter."""
    implementation, _, platform, libc = interpreter.kind
    processor = _PROCESSORS.get(environment.platform, "")
    has_glibc = libc is not None and libc.startswith("glibc")
    return (
        implementation == "cpython"
        and interpreter.minor == environment.python
        and platform == f"linux-{processor}"
        and has_glibc != ("alpine" in environment.base)
    )


def has_older_libc(interpreter: Interpreter, environment: LockedEnvironment) -> bool:
    """Return whether the wheels of a locked environment may need a newer glibc than an interpreter has."""
    image = bare_image(environment.base, ("python3",), environment.platform, environment.python)
    glibc = re.fullmatch(r"glibc 2\.(\d+)", interpreter.kind[3] or "")
    return not isinstance(image, str) and glibc is not None and int(glibc[1]) < image.libc[1]


def pyenv_root() -> str:
    """Return the directory of pyenv."""
    return os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")


def program_on_path(name: str) -> str | None:
    """Return the path of a program on PATH; for a shim, that of the selected version that has the program.

    The shim itself is returned only where pyenv alone knows the version, such as the newest that begins with 3.12.
    """
    found = program_named(name)
    root = pyenv_root()
    shims = os.path.join(root, "shims")
    if found is None or os.path.dirname(found) != shims:
        return found
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    system = os.pathsep.join(directory for directory in path if directory != shims)
    if any(map(may_be_tracked, (shims, os.path.join(root, "versions")))):
        return program_named(name, path=system)
    listed = _selected_versions(root)
    inside = [version for version in listed if _is_inside(version, os.path.join(root, "versions"))]
    for version in inside or ["system"]:
        directory = os.path.join(root, "versions", version)
        if version != "system" and not os.path.isdir(directory):
            if len(inside) == len(listed):
                return found
            continue  # a pyenv before 2.3.3 would also start what leads out (CVE-2022-35861)
        selected = program_named(name, path=system if version == "system" else os.path.join(directory, "bin"))
        if selected is not None:
            return selected
    return program_named(name, path=system)


def _selected_versions(root: str) -> list[str]:
    """Return what pyenv is asked for: a repository may have written it."""
    variable = os.environ.get("PYENV_VERSION")
    return (variable.split(":") if variable else _listed_versions(root)) or ["system"]


def _is_inside(version: str, directory: str) -> bool:
    """Return whether a version, of a repository's `.python-version`, leads to no program outside of pyenv."""
    place = os.path.normpath(os.path.join(directory, version))
    return ".." not in version.split("/") and place.startswith(f"{os.path.normpath(directory)}/")


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
            text = file.read(_LONGEST_LIST + 1)
    except OSError:
        return None
    lines = text.replace("\0", "").splitlines()  # as a shell reads it
    words = [line.split()[0] for line in lines if line.strip()]
    words += [os.pardir] if len(text) > _LONGEST_LIST else []  # the rest could lead anywhere
    return [word for word in words if not word.startswith("#")]
