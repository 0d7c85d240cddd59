"""The names of AWS regions, as far as a new one must follow them."""

from __future__ import annotations

import re

from smspec.diagnostics.suggestions import nearest

_DIRECTIONS = ("north", "south", "east", "west", "central", "northeast", "northwest", "southeast", "southwest")


def probable_region(name: str) -> str:
    """Return the region that was meant; empty unless a name has a misspelled direction, which each region has.

    A region that no table knows yet has one too.
    """
    match = re.fullmatch(r"(.+-)([a-z]+)(-[0-9]+)", name)
    if match is None or match[2] in _DIRECTIONS:
        return ""
    near = nearest(match[2], _DIRECTIONS)
    return f"{match[1]}{near}{match[3]}" if near else ""
