"""Detects changes of files."""

import os

from .lean_typing import Dict, List


def snapshot(directory: str) -> Dict[str, List[int]]:
    found = {}
    for parent, _, names in os.walk(directory):
        for path in filter(os.path.isfile, [f"{parent}/{name}" for name in names]):
            try:
                status = os.stat(path)
            except OSError:
                continue
            found[os.path.relpath(path, directory)] = [status.st_mtime_ns, status.st_size]
    return found
