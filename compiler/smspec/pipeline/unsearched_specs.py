"""Find changed job specs that a search of a directory does not find, and that `build` and `submit` accept by name.

A search skips hidden directories, output of smspec, and files that are not YAML by name: reading all of them takes
long. A change is a short list, so a comparison with a revision can look at each file of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_discovery import is_searched, outline
from smspec.spec.layers.option_errors import OptionError
from smspec.spec.yaml.text_limits import MAX_BYTES
from smspec.workspace.boundary import FileNotRead
from smspec.workspace.changed_files import ChangedFiles, place_of
from smspec.workspace.missing_path import is_directory
from smspec.workspace.spec_marker import has_spec_key


def unsearched_specs(
    changed: ChangedFiles, paths: Iterable[str], known: Iterable[str], cache: InputCache
) -> tuple[str, ...]:
    """Return the real places of such specs below those of some paths that are directories, except the known ones."""
    places = {place_of(path) for path in known}
    tops = {os.path.realpath(path) for path in paths if is_directory(path)}
    found = {path: top for top in sorted(tops, key=len, reverse=True) for path in changed.below(top)}
    return tuple(
        path
        for path, top in sorted(found.items())
        if path not in places and (os.path.islink(path) or not is_searched(path, top)) and _is_job(path, cache)
    )


def _is_job(path: str, cache: InputCache) -> bool:
    boundary = cache.boundary(os.path.dirname(path))
    try:
        content = boundary.read(path, MAX_BYTES) if boundary.is_file(path) else b""
        if len(content) > MAX_BYTES or not has_spec_key(content):
            return False
        cache.take(path, content)
        of_it = outline(path, cache)
    except (FileNotRead, InvalidInput, OptionError, OSError):
        return False
    return of_it is not None and not of_it.is_base
