"""The packages that a script imports, with the versions that are installed on this machine.

These are the versions that the script was written with, so the spec builds on an official image of Python, not on one
of AWS with its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from smspec.rules.program.provided_modules import package_of
from smspec.source.frozen import dataclass

_OF_THE_JOB = frozenset({"smspec_runtime"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """``version`` None: the package is not installed here, so its name follows from that of the module."""

    package: str
    version: str | None

    @property
    def line(self) -> str:
        return self.package if self.version is None else f"{self.package}=={self.version}"


def requirements(modules: Iterable[str]) -> list[Requirement]:
    """Return the packages of modules, by their full names, that neither Python nor smspec provides."""
    installed = packages_distributions()
    found: dict[str, Requirement] = {}
    for module in modules:
        top = module.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in _OF_THE_JOB:
            requirement = _requirement(module, installed)
            found.setdefault(requirement.package.lower(), requirement)
    return [found[name] for name in sorted(found)]


def _requirement(module: str, installed: Mapping[str, Sequence[str]]) -> Requirement:
    usual = package_of(module)
    packages = installed.get(module.partition(".")[0], ())
    package = next((name for name in packages if name.lower() == usual.lower()), None)
    # Several packages share a namespace such as `google`: only the usual one of the module is certain.
    if package is None and len(set(packages)) == 1:
        package = packages[0]
    if package is None:
        return Requirement(package=usual, version=None)
    try:
        # A local version, such as 2.5.1+cpu, is on no public index.
        return Requirement(package=package, version=version(package).partition("+")[0])
    except PackageNotFoundError:
        return Requirement(package=usual, version=None)
