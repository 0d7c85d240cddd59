"""The installed smspec runtime: the files that are put into images and channels."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from smspec.source.frozen import replace
from smspec.source.listing import Listing
from smspec.workspace.source_listing import listed_file
from smspec_runtime import run_plan


@functools.cache
def runtime_listing() -> Listing:
    """Return the files of `smspec_runtime`, by their paths in the package: modules and ``py.typed``, nothing else.

    None is executable, whatever mode bits the installation set.
    """
    package = os.path.dirname(os.path.abspath(run_plan.__file__))
    files = sorted(_modules(package, ""), key=lambda file: file[0].encode())
    return Listing(files=tuple(replace(listed_file(path, origin), executable=False) for path, origin in files))


def _modules(directory: str, prefix: str) -> Iterator[tuple[str, str]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _modules(entry.path, f"{prefix}{entry.name}/")
            elif entry.name.endswith(".py") or entry.name == "py.typed":
                yield prefix + entry.name, entry.path
