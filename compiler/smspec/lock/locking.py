"""The next lock of a repository: what it pins already, and what some jobs need beside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from smspec.source.frozen import replace
from smspec.spec.lock import VERSION, Lock

Resolve = Callable[[str], str]
"""From a reference to its digest."""


def locked(lock: Lock, images: Iterable[str], digests: Mapping[str, str], resolve: Resolve, *, update: bool) -> Lock:
    """Return the lock with every image pinned: by ``digests``, as before, or by asking; ``update``: all by asking."""
    pinned = dict(lock.images)
    for image in dict.fromkeys(images):
        if image in digests:
            pinned[image] = digests[image]
        elif update or image not in pinned:
            pinned[image] = resolve(image)
    return replace(lock, images=pinned)


def lock_text(lock: Lock) -> str:
    """Return the lock as its file holds it: the same lock is the same bytes, and a change of one line is one line."""
    content = {
        "lock": VERSION,
        "smspec": lock.smspec,
        "api_model": lock.api_model,
        "images": dict(sorted(lock.images.items())),
        "requirements": dict(sorted(lock.requirements.items())),
    }
    return json.dumps(content, indent=2) + "\n"
