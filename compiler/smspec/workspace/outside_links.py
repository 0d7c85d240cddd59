"""Links that lead out of a directory and back into it.

The target of such a link depends on what is outside: `../../alice/../repository/file` is that file only if there is an
`alice`. Following one would reveal to a stranger what exists on a machine.
"""

from __future__ import annotations

import os

from smspec.source.path_containment import is_below

_MOST_LINKS = 40  # the limit of the kernel


def has_detour(path: str, root: str) -> bool:
    """Return whether a link below ``root``, which has no links in it, leaves it on the way to the target of a path.

    The directories above ``root`` do not count: a link may go up through them and down again.
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
        if target is None:
            here = there
            if is_from_link and not is_below(here, root) and not is_below(root, here):
                return True
        else:
            links += 1
            here = os.sep if os.path.isabs(target) else here
            is_guarded = is_from_link or is_below(there, root)
            ahead += [(step, is_guarded) for step in reversed(target.split(os.sep))]
    return False


def _target(path: str) -> str | None:
    """Return the target of a link; None for what is not a link, or cannot be read."""
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return None
