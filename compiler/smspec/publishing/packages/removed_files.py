"""What a new version of a package removes from the base: the files of the old one, as marks in a layer.

https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from smspec.publishing.packages.base_listing import Listing
from smspec.publishing.packages.base_python import BasePython, Installed


def removed_files(listing: Listing, python: BasePython, old: Iterable[Installed], kept: set[str]) -> Iterator[str]:
    """Yield what the base has of old versions: files, and directories that would be empty.

    ``kept``: the files of the new layer, which replace those with the same path.
    """
    gone = {path for each in old for path in _files(listing, python, each)}
    occupied = {above for path in kept for above in _above(path)}
    whole: dict[str, bool] = {}

    def is_gone(path: str) -> bool:
        if path not in whole:
            names = listing.names(path)
            if names:
                whole[path] = path not in occupied and all(is_gone(f"{path}/{name}") for name in names)
            else:
                whole[path] = path in gone
        return whole[path]

    found = set()
    for path in gone - kept:
        top = path
        while is_gone(posixpath.dirname(top)):
            top = posixpath.dirname(top)
        found.add(top)
    yield from sorted(found)


def _files(listing: Listing, python: BasePython, old: Installed) -> Iterator[str]:
    for path in old.files or ():
        path = listing.resolved(path)
        if path.startswith((f"{python.prefix}/", f"{python.packages}/")) and listing.get(path) is not None:
            yield path
        directory, name = posixpath.split(path)
        stem = name.removesuffix(".py")
        for compiled in listing.names(f"{directory}/__pycache__") if stem != name else ():
            if compiled.startswith(f"{stem}.cpython-"):
                yield f"{directory}/__pycache__/{compiled}"


def _above(path: str) -> Iterator[str]:
    while (path := posixpath.dirname(path)) != "/":
        yield path
