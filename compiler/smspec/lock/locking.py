"""The next lock of a repository: what it pins already, and what some jobs need beside."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping

from smspec.source.frozen import replace
from smspec.spec.lock import VERSION, Lock


def to_ask(lock: Lock, images: Iterable[str], given: Container[str], *, update: bool) -> tuple[str, ...]:
    """Return the images whose registries are to be asked: those not given and, but for ``update``, not pinned."""
    return tuple(i for i in dict.fromkeys(images) if i not in given and (update or i not in lock.images))


def locked(lock: Lock, images: Mapping[str, str], requirements: Mapping[str, str]) -> Lock:
    """Return the lock with these digests of images and requirements beside what it pins already."""
    return replace(lock, images={**lock.images, **images}, requirements={**lock.requirements, **requirements})


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
