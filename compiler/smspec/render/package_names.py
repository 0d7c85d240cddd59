"""The grammar of packages for apt and pip: packages by name, never an option, a path, or a command."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Patterns are strings, compiled only when a spec needs them.

# Names by Debian Policy 5.6.1, versions by 5.6.12; with a `-` at its end a name would be one to remove.
_APT_NAME = r"[a-z0-9](?:[a-z0-9+.-]*[a-z0-9+.])"
_APT_PACKAGE = rf"{_APT_NAME}(?::[a-z0-9][a-z0-9-]*)?(?:=[0-9A-Za-z][0-9A-Za-z.+:~-]*)?"

_LONGEST = 1024
_NAMES_A_FILE = r"(?:-[rcef]|--(?:requirement|constraint|editable|find-links)\b)(?![ =]*(?:/|[A-Za-z][A-Za-z+]+:))"
_LOCAL_PATH = r"(?:\.{1,2}(?:/|$)|[^/#\s@:;<>=!~\[\]-][^\s@:;<>=!~\[\]]*/)"

NOT_UTF8 = "is not UTF-8"


def is_apt_package(word: str) -> bool:
    """Return whether a word is ``name``, ``name:architecture``, either with ``=version``."""
    return len(word) <= _LONGEST and re.fullmatch(_APT_PACKAGE, word) is not None


def faults_of_requirements(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield (line, error) for lines of a requirements file that need something that the build does not have."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield content.count(b"\n", 0, error.start) + 1, NOT_UTF8
        return
    for number, line in enumerate(text.splitlines(), start=1):
        word = line.strip()
        if re.match(_NAMES_A_FILE, word):
            yield number, "names another file"
        elif re.match(_LOCAL_PATH, word):
            yield number, "names a local path"
