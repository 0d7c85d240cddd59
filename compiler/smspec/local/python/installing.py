"""Install packages into an environment of a run, with uv if available, else with pip; fetch a Python with uv."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO

from smspec.diagnostics.quoting import masked, system_reason
from smspec.installers import own_pip_settings, pip_options, uv_flags, uv_settings, variables_of_installers
from smspec.local.python.environment import python_in
from smspec.local.python.interpreter import (
    PYTHONS,
    Interpreter,
    fetched_directory,
    matching_interpreter,
    without_foreign_packages,
)
from smspec.local.record.progress import InstallerLines
from smspec.local.running.request import RunFailed
from smspec.local.watch.host_log import value_redactor
from smspec.source.frozen import dataclass, field
from smspec.source.real_file import OUTSIDE_PROJECTS, program_named
from smspec.workspace.boundary_search import repository_above
from smspec.workspace.own_directories import cache_directory, make_private, open_cache, temporary_directory
from smspec.workspace.process_guard import MOST_MEMORY, guarded

_PIP_QUIETLY = ("--disable-pip-version-check", "--no-input")
_OF_UV = ("UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_BREAK_SYSTEM_PACKAGES", "UV_TARGET", "UV_PREFIX")
_OLDEST_UV = (0, 11, 15)
_TEMPORARY = "tmp"
_SHOWN_LINES = 6
_LONGEST_LINE = 1 << 16
_NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded|os error 28", re.IGNORECASE)
_NO_MEMORY = re.compile(r"^(?:ERROR: )?MemoryError|^memory allocation of \d+ bytes failed", re.MULTILINE)
_TOO_DEEP = re.compile(r"^RecursionError", re.MULTILINE)
_UNREACHABLE = re.compile(
    r"Failed to establish a new connection|name resolution|Name or service not known|Connection (?:refused|reset)"
    r"|Network is unreachable|error sending request|Failed to fetch|timed out|dns error|tcp connect error|HTTP error 5",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(
    r"No matching distribution|No solution found|ResolutionImpossible|conflicting dependencies|not found in the package"
    r"|Invalid requirement|Failed to parse|THESE PACKAGES DO NOT MATCH THE HASHES|Hash mismatch",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"No download found|not a valid|No downloads? (?:is |are )?available", re.IGNORECASE)
_OFFLINE = re.compile(r"network connectivity is disabled|offline", re.IGNORECASE)
_CAUSE = re.compile(r"(?:^|\s)(?:error|cause|caused by): ", re.IGNORECASE)

_PIP = """
import json, runpy, site, sys
from importlib.machinery import PathFinder

place = json.loads(sys.argv.pop(1))
own = [*sys.path, place["pip"]]


class OwnModules(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return super().find_spec(name, own if path is None else path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = OwnModules
sys.prefix = sys.exec_prefix = place["prefix"]
sys.executable = place["python"]
site.PREFIXES[:] = [place["environment"]]
sys.path += place["packages"]

from pip._internal.exceptions import InstallationError
from pip._vendor.distlib.scripts import ScriptMaker

make = ScriptMaker.make


def make_in_bin(self, specification, options=None):
    name = specification.partition("=")[0].strip()
    if "/" in name:
        raise InstallationError(f"the name of a script is a path: {name}")
    return make(self, specification, options)


ScriptMaker.make = make_in_bin
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
"""Starts pip with ``-I -S`` on a Python without packages: it finds those that are installed, and imports none of them.
From 24.1 to 26.0 at least, pip writes an entry point with the name ``/home/me/.profile`` there.

What it starts itself, such as builds, and the scripts that it writes, run on the Python of a different environment;
a build in isolation leaves out what is in the directories of `site`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """Installs into ``layer``. ``environment``: one that has nothing but pip, on whose Python installers run.

    No code of a package that is installed is run, also by later turns: neither ``.pth`` files nor `sitecustomize`, nor
    modules that an installer imports if there are any, nor what replaces the Python or pip. ``below``: directories
    with packages that pip finds installed.

    ``lock`` is held as long as a process writes to the layer. ``lines`` gets every line, without the ``secrets``,
    which are variables of the installer.
    """

    interpreter: Interpreter
    environment: str
    layer: str
    below: tuple[str, ...] = ()
    scratch_dir: str
    lock: int
    lines: InstallerLines
    inherited: Mapping[str, str]
    secrets: Mapping[str, str] = field(default_factory=dict)

    def install(self, turns: Sequence[Sequence[str]], files: Mapping[str, bytes]) -> None:
        """Install the packages of each turn: the arguments of ``pip install``, which name files. Raise RunFailed."""
        os.makedirs(self.scratch_dir, exist_ok=True)
        with temporary_directory(self._place()) as place, self.lines:
            self._install(turns, files, place)

    def _install(self, turns: Sequence[Sequence[str]], files: Mapping[str, bytes], place: str) -> None:
        directory = os.path.join(place, "files")
        os.makedirs(directory)
        for name, content in files.items():
            with open(os.path.join(directory, name), "wb") as file:
                file.write(content)
        inherited = {**self.inherited, **self.secrets}
        pip = own_pip_settings(
            without_foreign_packages(inherited), os.path.join(self.scratch_dir, "pip-of-environment.conf")
        )
        pip = {**pip, "PIP_ROOT_USER_ACTION": "ignore", "TMPDIR": place}
        words, variables, start = self._pip, pip, directory
        uv = None if self.below else _installing_uv(pip)  # only pip finds packages in several directories
        if uv is not None:
            options = pip_options(pip, self.environment)
            settings = uv_settings(options, inherited)
            if not isinstance(settings, str):
                # Never hard links: a script that writes to a package would write to uv's cache. `copy` shares blocks
                # where the file system can, `clone` creates hard links where it cannot.
                words = [uv, "--directory", directory, "pip", "install", "--no-config"]
                words += ["--python", python_in(self.environment), "--prefix", self.layer, "--link-mode", "copy"]
                words += ["--compile-bytecode", "--no-progress", *uv_flags(options)]
                variables = {**{name: value for name, value in pip.items() if name not in _OF_UV}, **settings}
                variables = {name: value for name, value in variables.items() if name not in _OF_UV}
                start = OUTSIDE_PROJECTS
        for turn in turns:
            with suppress(OSError):
                os.unlink(os.path.join(self.layer, "pip.conf"))  # of a package: the next pip would read it
            self._run([*words, *turn], variables, start)

    def _place(self) -> str:
        """Return where pip starts git, which may be a shim that reads files there and above.

        So it is the cache: others write below /tmp, and to the project, in which a CI may keep the cache.
        """
        top = repository_above(cache_directory())
        is_own = top is None or os.path.realpath(top) == os.path.realpath(os.path.expanduser("~"))
        return open_cache(_TEMPORARY) if is_own else self.scratch_dir

    @property
    def _pip(self) -> list[str]:
        place = {
            "environment": self.environment,
            "pip": os.path.join(self.environment, self.interpreter.library),
            "prefix": self.layer,
            "python": python_in(self.environment),
            "packages": [os.path.join(self.layer, self.interpreter.library), *self.below],
        }
        words = [self.interpreter.base, "-I", "-S", "-B", "-c", _PIP, json.dumps(place), "install"]
        return [*words, *_PIP_QUIETLY, "--no-warn-script-location", "--progress-bar", "off"]

    def _run(self, words: list[str], variables: Mapping[str, str], directory: str) -> None:
        last: list[str] = []
        whole: list[str] = []
        redact = value_redactor(tuple(self.secrets.values()))

        def keep(line: str) -> None:
            line = redact(line)
            self.lines.add(masked(line))
            whole.append(line)
            del whole[:-400]
            if line.strip():
                last.append(masked(line.strip()))
                del last[:-_SHOWN_LINES]

        status = run_shown(words, variables, keep, directory, self.lock)
        if status:
            self.lines.fail()
            raise _failure("\n".join(whole), last, status)


def _installing_uv(variables: Mapping[str, str]) -> str | None:
    """Return the path of a uv with which no wheel writes or removes files outside of its environment; None without one.

    GHSA-4gg8-gxpx-9rph: an earlier one writes an entry point wherever its name leads.
    """
    path = program_named("uv")
    lines: list[str] = []
    if path is None or run_shown([path, "--version"], variables, lines.append):
        return None
    match = re.match(r"uv (\d+)\.(\d+)\.(\d+)", "".join(lines))
    return path if match is not None and tuple(map(int, match.groups())) >= _OLDEST_UV else None


def _failure(text: str, last: Sequence[str], status: int) -> RunFailed:
    """Return why packages could not be installed: 1 if a listed package does not exist, else 3."""
    shown = " | ".join(last)
    if _NO_ROOM.search(text):
        return RunFailed(
            3,
            "the disk is full: cannot install the job's Python packages; set SMSPEC_CACHE_DIR to another disk",
        )
    if _NO_MEMORY.search(text):
        return RunFailed(
            3,
            f"the installer of the job's Python packages needs more than {MOST_MEMORY >> 30} GiB of memory; does a "
            "page of the package index ever end?",
        )
    if _TOO_DEEP.search(text):
        return RunFailed(
            3,
            "pip cannot install a package with about 1,000 nested directories (RecursionError); the lines "
            "above list the packages",
        )
    way = "pass `--python EXE` to use a Python that has them"
    if _UNREACHABLE.search(text):
        # Its lines were shown already, and most of them repeat the same error.
        return RunFailed(3, f"cannot reach the package index to install the job's Python packages; {way}")
    kind = 1 if _NOT_THERE.search(text) else 3
    return RunFailed(kind, f"cannot install the job's Python packages (exit status {status}); {way}", shown)


def run_shown(
    words: list[str],
    variables: Mapping[str, str],
    take: Callable[[str], None],
    directory: str = OUTSIDE_PROJECTS,
    lock: int = -1,
) -> int:
    """Run a command to its end, despite interrupts; return its exit status. ``lock`` stays held as long as it runs.

    A shim of pyenv, asdf, or the like would read the files of a repository in the ``directory``.
    """
    with subprocess.Popen(
        guarded(words, is_limited=True),
        env={**variables, "PWD": directory},
        cwd=directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=(lock,) if lock >= 0 else (),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            for line in _decoded(process.stdout):
                take(line)
        finally:
            process.stdin.close()
    return process.returncode


def _decoded(stream: IO[bytes]) -> Iterator[str]:
    while line := stream.readline(_LONGEST_LINE):
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def fetched_interpreter(version: str, show: Callable[[str], None]) -> Interpreter:
    """Return the interpreter of a version that this machine has, or has then. Raise RunFailed."""
    found = matching_interpreter(version)
    if found is None:
        _fetch(version, show)
        found = matching_interpreter(version)
    if found is None:
        raise _not_fetched(version, "what uv installed does not start")
    return found


def _fetch(version: str, show: Callable[[str], None]) -> None:
    """Install a Python of a version, such as 3.12, for smspec alone. Raise RunFailed."""
    uv = program_named("uv")
    if uv is None:
        raise _not_fetched(version, "`--fetch-python` requires uv on PATH")
    try:
        directory = open_cache(PYTHONS)
    except OSError as fault:
        raise _not_fetched(
            version, f"failed to create directory `{fetched_directory()}`: {system_reason(fault)}"
        ) from None
    show(f"fetching Python {version} with uv into {directory}")
    # No program of that Python becomes visible outside of the cache.
    variables = {
        **without_foreign_packages(variables_of_installers(os.environ)),
        "UV_PYTHON_INSTALL_DIR": directory,
        "UV_PYTHON_INSTALL_BIN": "0",
    }
    variables.pop("UV_PYTHON", None)
    causes: list[str] = []

    def take(line: str) -> None:
        line = masked(line)
        if causes or line.startswith("error"):
            causes.append(line)
        elif line.strip():
            show(f"fetching | {line.strip()}")

    # Not in the current directory: its `uv.toml` or `pyproject.toml` could name any program as that Python.
    status = run_shown([uv, "python", "install", version], variables, take)
    make_private(directory)
    if status:
        # uv wraps long lines.
        raise _not_fetched(version, _why_not_fetched(" ".join(line.strip() for line in causes)))


def _why_not_fetched(text: str) -> str:
    if _NO_ROOM.search(text):
        return "the disk is full: set SMSPEC_CACHE_DIR to another disk"
    if _UNKNOWN.search(text):
        return "uv has no build of it for this machine"
    if _OFFLINE.search(text) or _UNREACHABLE.search(text):
        return "uv cannot reach the server that has it"
    return _CAUSE.split(text)[-1].strip() or "uv failed"


def _not_fetched(version: str, reason: str) -> RunFailed:
    return RunFailed(3, f"cannot fetch Python {version}: {reason}; install it, or pass `--python EXE`")
