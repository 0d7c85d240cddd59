"""Read a uv.lock: the packages that it installs on Linux x86_64.

For developers of smspec, because it needs `packaging`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from packaging.markers import Marker

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Package = dict[str, Any]


def locked_packages(lock: str, *, extras: tuple[str, ...], python: str) -> dict[str, str]:
    """Return name → version of the packages of a project without its groups for development."""
    packages: list[Package] = tomllib.loads(lock)["package"]
    (project,) = (package for package in packages if "virtual" in package["source"] or "editable" in package["source"])
    found: dict[str, str] = {}
    seen: set[tuple[str, str, str]] = set()
    waiting = [*_wanted(project, extras)]
    while waiting:
        wanted = waiting.pop()
        if not _applies(wanted, python):
            continue
        package = _chosen(packages, wanted)
        found[package["name"]] = package["version"]
        for extra in ("", *wanted.get("extra", ())):
            key = (package["name"], package["version"], extra)
            if key not in seen:
                seen.add(key)
                waiting += _wanted(package, (extra,)) if extra else package.get("dependencies", ())
    return dict(sorted(found.items()))


def _wanted(package: Package, extras: Iterable[str]) -> list[Package]:
    optional = package.get("optional-dependencies", {})
    return [*package.get("dependencies", ()), *(each for extra in extras for each in optional.get(extra, ()))]


def _chosen(packages: list[Package], wanted: Package) -> Package:
    """Return the package that a dependency means: it has a version where the lock has several."""
    (package,) = (
        package
        for package in packages
        if package["name"] == wanted["name"] and wanted.get("version") in (None, package["version"])
    )
    return package


def _applies(wanted: Package, python: str) -> bool:
    environment = {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
    }
    return "marker" not in wanted or Marker(wanted["marker"]).evaluate({**environment, "extra": ""})
