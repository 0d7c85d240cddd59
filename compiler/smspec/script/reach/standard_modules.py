"""The modules of Python's standard library, by version: those that came or went since 3.8, and all others."""

from __future__ import annotations

import sys

from smspec.script.reach.reached import Version

ADDED: dict[str, Version] = {
    "graphlib": (3, 9),
    "zoneinfo": (3, 9),
    "tomllib": (3, 11),
    "annotationlib": (3, 14),
    "compression": (3, 14),
}
"""Module → the first version that has it."""

REMOVED: dict[str, Version] = {
    "dummy_threading": (3, 9),
    **dict.fromkeys(("formatter", "parser", "symbol"), (3, 10)),
    "binhex": (3, 11),
    **dict.fromkeys(("asynchat", "asyncore", "distutils", "imp", "smtpd"), (3, 12)),
    **dict.fromkeys(("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap"), (3, 13)),
    **dict.fromkeys(("msilib", "nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau"), (3, 13)),
    **dict.fromkeys(("telnetlib", "uu", "xdrlib"), (3, 13)),
}
"""Module → the first version without it."""

_UNLISTED = ("__main__", "test")


def is_standard(name: str) -> bool:
    """Return whether any version has a module."""
    return name in sys.stdlib_module_names or name in ADDED or name in REMOVED or name in _UNLISTED


def is_in_every_version(name: str) -> bool:
    """Return whether every version since 3.8 has a module."""
    return name not in ADDED and name not in REMOVED and is_standard(name)


def is_in_version(name: str, version: Version) -> bool:
    """Return whether a version has a module of the standard library."""
    return ADDED.get(name, version) <= version < REMOVED.get(name, (99, 0))
