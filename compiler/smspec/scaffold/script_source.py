"""Find a script that exists, and read what its text shows: also the packages it imports, with the versions here.

These are the versions that the script was written with, so the spec builds on an official image of Python, not on one
of AWS with its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from smspec.pipeline.script_reading import Started, read_program
from smspec.rules.entry_points import is_safe
from smspec.rules.program.provided_modules import package_of
from smspec.script.program import Program
from smspec.script.reach import Reach
from smspec.source.frozen import dataclass
from smspec.workspace.source_listing import scan_source

SOURCE = "src"
_USUAL = ("train.py", "main.py", "run.py")

_OF_THE_JOB = frozenset({"smspec_runtime"})


class NoScript(Exception):
    """There is no script to start from; the text is the reason and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """``source`` and ``script``: paths in the spec. ``reason``: why the script was not read, if it was not."""

    source: str
    script: str
    program: Program
    reach: Reach
    has_requirements: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPackage:
    """``version`` None: the package is not installed here, so its name follows from that of the module."""

    package: str
    version: str | None

    @property
    def line(self) -> str:
        return self.package if self.version is None else f"{self.package}=={self.version}"


def existing_script(directory: str) -> str | None:
    """Return the script in ``src/`` of a directory; None if there is no such directory. Raise `NoScript`."""
    source = os.path.join(directory, SOURCE)
    if not os.path.isdir(source):
        return None
    names = sorted(name for name in os.listdir(source) if name.endswith(".py") and not name.startswith("_"))
    usual = [name for name in _USUAL if name in names]
    if usual or len(names) == 1:
        return os.path.join(source, (usual or names)[0])
    raise NoScript(f"`{source}` exists, and it is not certain which script starts; pass `--from {SOURCE}/SCRIPT.py`")


def read_source(directory: str, path: str) -> ReadSource:
    """Read the script at ``path`` for a spec in a directory. Raise `NoScript` and OSError."""
    here, file = os.path.realpath(directory), os.path.realpath(path)
    if not os.path.exists(file):
        raise NoScript(f"`{path}` does not exist")
    if not os.path.isfile(file) or not file.endswith(".py"):
        raise NoScript(f"`{path}` is not a Python file")
    relative = os.path.relpath(file, here)
    if relative.startswith(os.pardir):
        raise NoScript(f"`{path}` is not below `{directory}`; create the job in a directory that contains the script")
    top, _, rest = relative.partition(os.sep)
    source = SOURCE if top == SOURCE and rest else os.path.dirname(relative)
    root = os.path.join(here, source)
    listing = scan_source(root).listing
    script = os.path.relpath(file, root)
    if not is_safe(script):
        raise NoScript(f"`{path}`: SageMaker accepts only letters, digits, and `. _ + - /` in a script; rename it")
    read = read_program(Started(path=script, named=script, key="script"), listing, root)
    known = isinstance(read.program, Program)
    return ReadSource(
        source=source or os.curdir,
        script=script,
        program=read.program if isinstance(read.program, Program) else Program(texts=()),
        reach=read.reach if isinstance(read.reach, Reach) else Reach(),
        has_requirements=listing.has("requirements.txt"),
        reason="" if known else str(getattr(read.program, "reason", "it cannot be read")),
    )


def requirements(modules: Iterable[str]) -> list[ImportedPackage]:
    """Return the packages of modules, by their full names, that neither Python nor smspec provides."""
    installed = packages_distributions()
    found: dict[str, ImportedPackage] = {}
    for module in modules:
        top = module.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in _OF_THE_JOB:
            requirement = _requirement(module, installed)
            found.setdefault(requirement.package.lower(), requirement)
    return [found[name] for name in sorted(found)]


def _requirement(module: str, installed: Mapping[str, Sequence[str]]) -> ImportedPackage:
    usual = package_of(module)
    packages = installed.get(module.partition(".")[0], ())
    package = next((name for name in packages if name.lower() == usual.lower()), None)
    # Several packages share a namespace such as `google`: only the usual one of the module is certain.
    if package is None and len(set(packages)) == 1:
        package = packages[0]
    if package is None:
        return ImportedPackage(package=usual, version=None)
    try:
        # A local version, such as 2.5.1+cpu, is on no public index.
        return ImportedPackage(package=package, version=version(package).partition("+")[0])
    except PackageNotFoundError:
        return ImportedPackage(package=usual, version=None)
