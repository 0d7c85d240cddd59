"""The directory of smspec's cache: what it contains can be removed at any time."""

from __future__ import annotations

import os
import sys

VARIABLE = "SMSPEC_CACHE_DIR"


def cache_directory() -> str:
    """Return the directory of smspec's cache: SMSPEC_CACHE_DIR, or the default of the system."""
    named = os.environ.get(VARIABLE)
    if named:
        return os.path.abspath(named)
    above = os.environ.get("XDG_CACHE_HOME")
    if not (above and os.path.isabs(above)):
        above = os.path.expanduser("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    return os.path.join(above, "smspec")
