"""Whether the text of a module contains words that make a closer look necessary."""

from __future__ import annotations

import re

from smspec.script.reach.reached import Version

NEWEST: Version = (3, 13)
"""The newest version that a construct is reported for."""

INSTALLERS = r"\b(?:pip3?|conda|mamba|uv|easy_install)\b"

# Patterns are strings, compiled only when a script needs them.
_PATHS = (
    r"\bsys\s*\.\s*(?:path|modules)\b|\bfrom\s+sys\s+import\b"
    r"|\b(?:__path__|meta_path|path_hooks|addsitedir|extend_path|zipimport|zipimporter|PYTHONPATH|entry_points)\b"
)
_WORDS = ("_path", "path_hooks", "addsitedir", "zipimport", "PYTHONPATH", "entry_points")
_OF_SYS = ("path", "modules", "from sys")
_OF_INSTALLERS = ("pip", "conda", "mamba", "uv", "easy_install")
CHANGES = f"{_PATHS}|{INSTALLERS}"
"""Words without which a module changes no search for modules, and installs none."""

_PARAMETERS = r"\b(?:def|class|type)\s+\w+\s*\["


WRITES = (
    r"\bshutil\s*\.\s*(?:copy\w*|move|unpack_archive)\b|\b(?:copytree|copyfile|unpack_archive|extractall)\b"
    r"|\b(?:download_file|download_dir|urlretrieve|snapshot_download|clone_from)\b|\bgit\b.*\bclone\b"
    r"|\b(?:run_path|run_module|exec_module|load_module|symlink_to)\b|\b__import__\s*=(?!=)|\bos\s*\.\s*(?:rename|symlink)\b"
    r"|(?s:\A(?=.*\.py[\"'])(?=.*\b(?:open|write_text|write_bytes)\b))"
)
"""Words of code that may create a module before it imports it, or run a file that does, or replace the import."""

_OF_WRITES = (
    "shutil",
    "copytree",
    "copyfile",
    "unpack_archive",
    "extractall",
    "download",
    "urlretrieve",
    "clone",
    "run_",
    "_module",
    "symlink",
    "__import__",
    "rename",
    ".py",
)


def may_write_modules(text: str) -> bool:
    """Return whether a module may create other modules."""
    return any(word in text for word in _OF_WRITES) and re.search(WRITES, text) is not None


def may_change_paths(text: str) -> bool:
    """Return whether a module may change where Python looks for modules, or install packages."""
    if not any(word in text for word in (*_WORDS, *_OF_INSTALLERS)) and not (
        "sys" in text and any(word in text for word in _OF_SYS)
    ):
        return False
    return re.search(CHANGES, text) is not None


def may_be_newer(text: str, base: Version) -> bool:
    """Return whether a module may have constructs that a version of Python lacks."""
    return base < (3, 12) or (base < NEWEST and "[" in text and re.search(_PARAMETERS, text) is not None)
