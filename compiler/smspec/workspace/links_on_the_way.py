"""The links on the way to the target of a path, and those that lead out of a directory and back into it.

The target of such a link depends on what is outside: `../../alice/../repository/file` is that file only if there is an
`alice`. Following one would reveal to a stranger what exists on a machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from smspec.source.real_file import is_below

_MOST_LINKS = 40  # the limit of the kernel


def has_detour(path: str, root: str) -> bool:
    """Return whether a link below ``root``, which has no links in it, leaves it on the way to the target of a path.

    The directories above ``root`` do not count: a link may go up through them and down again.
    """
    return any(
        is_guarded and target is None and not is_below(there, root) and not is_below(root, there)
        for there, target, is_guarded in _way(path, root)
    )


def places_on_the_way(path: str) -> tuple[str, ...]:
    """Return all that decides what a path leads to: the path, each link on the way to its target, and the target.

    Each is without links above it. `..` after a link is read in both ways: as text, and as the system does.
    """
    found: dict[str, None] = {}
    for whole in dict.fromkeys((os.path.abspath(path), os.path.join(os.getcwd(), path))):
        end = os.sep
        for there, target, _ in _way(whole, os.sep):
            if target is not None:
                found[there] = None
            else:
                end = there
        found[os.path.realpath(whole)] = found[end] = None
    return tuple(found)


def _way(path: str, root: str) -> Iterator[tuple[str, str | None, bool]]:
    """Yield each place on the way to the target of a path, without links above it, and its own target if it is a link.

    The last value: whether a link below ``root`` leads there.
    """
    here, links = os.sep, 0
    ahead = [(step, False) for step in reversed(os.path.join(os.getcwd(), path).split(os.sep))]
    while ahead:
        step, is_from_link = ahead.pop()
        if step in ("", os.curdir):
            continue
        if step == os.pardir:
            here = os.path.dirname(here)
            continue
        there = os.path.join(here, step)
        target = _target(there) if links < _MOST_LINKS else None
        yield there, target, is_from_link
        if target is None:
            here = there
        else:
            links += 1
            here = os.sep if os.path.isabs(target) else here
            is_guarded = is_from_link or is_below(there, root)
            ahead += [(step, is_guarded) for step in reversed(target.split(os.sep))]


def _target(path: str) -> str | None:
    """Return the target of a link; None for what is not a link, or cannot be read."""
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return None
