"""Find a script that exists, its source, and the packages that it imports.

Modules of the repository are no packages. Packages have the versions of this machine, with which the script was
written: so the spec builds on an official image of Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from smspec.pipeline.script_reading import Started, read_program
from smspec.rules.entry_points import is_safe
from smspec.rules.program.provided_modules import package_of
from smspec.rules.requirements import needs_git
from smspec.scaffold import SOURCE
from smspec.script.program import Program
from smspec.script.reach import Reach
from smspec.source.frozen import dataclass, replace
from smspec.workspace.path_targets import repository_top
from smspec.workspace.source_listing import scan_source

_USUAL = ("train.py", "main.py", "run.py")
_OF_THE_JOB = frozenset({"sagemaker_containers", "sagemaker_training", "smspec_runtime"})

_REQUIREMENTS = "requirements.txt"
_MOST_DIRECTORIES = 20_000
_ON_AN_INDEX = frozenset(
    ("datasets", "evaluate", "tokenizers", "transformers", "diffusers", "accelerate", "peft", "trl", "timm", "wandb")
)
"""Packages of which a repository may have a namesake that the script does not mean."""
_OF_OTHERS = ("site-packages", "node_modules")


class NoScript(Exception):
    """There is no script to start from; the text is the reason and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """``source`` and ``script``: paths in the spec. ``reason``: why the script was not read, if it was not.

    ``needs_git``: a requirement is a git URL. ``elsewhere``: modules that it imports and the repository has, but
    outside of the source.
    """

    source: str
    script: str
    program: Program
    reach: Reach
    has_requirements: bool
    needs_git: bool = False
    reason: str = ""
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPackage:
    """``version`` None: the package is not installed here, so its name follows from that of the module."""

    package: str
    version: str | None

    @property
    def line(self) -> str:
        return self.package if self.version is None else f"{self.package}=={self.version}"


def existing_script(directory: str) -> str:
    """Return the script in ``src/`` of a directory. Raise `NoScript`."""
    source = os.path.join(directory, SOURCE)
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
    read = _read_in(here, source, file, path)
    tops = _imported(read)
    # The modules next to the source are part of it: the runtime finds them from its top.
    above = (place for place in _above(source) if any(is_module(os.path.join(here, place), top) for top in tops))
    if (place := next(above, None)) is not None:
        read = _read_in(here, place, file, path)
    return replace(read, elsewhere=tuple(sorted(_in_repository(here, _imported(read)))))


def _read_in(here: str, source: str, file: str, path: str) -> ReadSource:
    """Read a script as a part of a source."""
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
        has_requirements=listing.has(_REQUIREMENTS),
        needs_git=listing.has(_REQUIREMENTS) and _has_git_url(os.path.join(root, _REQUIREMENTS)),
        reason="" if known else str(getattr(read.program, "reason", "it cannot be read")),
    )


def _has_git_url(path: str) -> bool:
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        return any(needs_git(line.strip()) for line in file)


def _imported(read: ReadSource) -> set[str]:
    return {each.top for each in read.reach.foreign}


def _above(source: str) -> Iterator[str]:
    """Yield the directories above a source, that of the spec first."""
    parts = source.split(os.sep) if source else []
    for count in range(len(parts)):
        yield os.path.join("", *parts[:count])


def is_module(directory: str, name: str) -> bool:
    """Return whether a directory has a module or package of this name."""
    place = os.path.join(directory, name)
    if os.path.isfile(f"{place}.py"):
        return True
    return os.path.isdir(place) and any(each.endswith(".py") for each in os.listdir(place))


def _in_repository(here: str, names: set[str]) -> set[str]:
    """Return which modules the repository has, in any of its directories; without one, that of the spec."""
    found: set[str] = set()
    sought = {
        name
        for name in names
        if name not in _ON_AN_INDEX and _requirement(name, packages_distributions()).version is None
    }
    for count, (place, directories, files) in enumerate(os.walk(repository_top(here) or here)):
        modules = [name.removesuffix(".py") for name in files if name.endswith(".py")]
        package = [os.path.basename(place)] if count and modules else []
        found |= sought.intersection((*package, *modules))
        if found == sought or count > _MOST_DIRECTORIES:
            break
        directories[:] = [name for name in directories if name[0] != "." and name not in _OF_OTHERS]
    return found


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
