"""The rows of the table of packages: for each image of a lock the versions, and for each package its modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from maintenance.image_packages import ADDED, MODULES_OF_ADDED, Environment
from smspec.service.facts.images import images_of
from smspec.service.facts.table import Row

PACKAGE, MODULES = "package", "modules"
NO_MODULES = "-"
"""The modules of a package that has none; an empty cell is unknown."""

ModulesOf = Callable[[str, str], frozenset[str] | None]


def package_rows(before: Iterable[Row], environments: Iterable[Environment], modules_of: ModulesOf) -> list[Row]:
    """Return the rows for the environments whose packages are known, sorted by package.

    ``modules_of`` a package and its version is only asked for rows that change.
    """
    columns = {column(each): each.packages for each in environments if each.packages is not None}
    old = {row[PACKAGE]: row for row in before}
    rows = []
    for name in sorted({name for packages in columns.values() for name in packages}):
        versions = {image: packages.get(name, "") for image, packages in columns.items()}
        known = old.get(name, {})
        modules = known.get(MODULES, "")
        if not modules or set(versions.values()) - {*known.values(), ""}:
            modules = _modules(name, {version for version in versions.values() if version}, modules_of)
        rows.append({PACKAGE: name, MODULES: modules, **versions})
    return rows


def column(environment: Environment) -> str:
    """Return the name of a column: the image by the tag in the table of images that is of the same release."""
    tag = environment.tag
    same = [
        image
        for image in images_of(environment.repository)
        if environment.processor in image.processors
        and (tag in image.tags or tag.startswith(tuple(f"{release}-" for release in image.releases)))
    ]
    chosen = min(same, key=lambda image: not image.is_of_sdk, default=None)
    return f"{environment.repository}:{chosen.tag if chosen else tag}"


def _modules(name: str, versions: set[str], modules_of: ModulesOf) -> str:
    """Return the modules of all versions; empty if those of one are unknown."""
    found: set[str] = set()
    for version in versions:
        public = version.partition("+")[0]
        names = frozenset(MODULES_OF_ADDED[name].split()) if version == ADDED else modules_of(name, public)
        if names is None:
            return ""
        found |= names
    return " ".join(sorted(found)) or NO_MODULES
