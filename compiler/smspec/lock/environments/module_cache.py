"""The modules in wheels that were listed before, by the SHA-256 of the wheel."""

from __future__ import annotations

import json
import os

from smspec.lock.environments.resolution import ResolvedFile
from smspec.workspace.cache_directory import cache_directory, open_cache, require_safe_entry

_FORMAT = "modules-2"


class ModuleCache:
    """A directory with a small file for each wheel. A cache that cannot be read or written is an empty one."""

    def __init__(self) -> None:
        """Raise UnsafeCache if others can change it: what a wheel contains decides which imports a check accepts."""
        try:
            self._directory = open_cache(_FORMAT)
        except OSError:
            self._directory = os.path.join(cache_directory(), _FORMAT)

    def get(self, file: ResolvedFile) -> tuple[str, ...] | None:
        """Return the modules of a wheel; None if they are not known."""
        try:
            require_safe_entry(self._path(file))
            with open(self._path(file), encoding="utf-8") as content:
                found = json.load(content)
        except (OSError, ValueError):
            return None
        is_list = isinstance(found, list) and all(isinstance(name, str) for name in found)
        return tuple(found) if is_list else None

    def put(self, file: ResolvedFile, modules: tuple[str, ...]) -> None:
        """Keep the modules of a wheel."""
        path = self._path(file)
        try:
            unfinished = f"{path}.{os.getpid()}"
            with open(unfinished, "w", encoding="utf-8") as content:
                json.dump(modules, content)
            os.chmod(unfinished, 0o644)
            os.replace(unfinished, path)
        except OSError:
            pass

    def _path(self, file: ResolvedFile) -> str:
        return os.path.join(self._directory, f"{file.sha256}.json")
