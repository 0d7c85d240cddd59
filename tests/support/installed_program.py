"""Paths of other programs that tests use, next to this Python or on PATH."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def installed(name: str) -> str | None:
    """Return the path of a program, or None where it is not installed."""
    return shutil.which(name, path=os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ.get("PATH", "")]))
