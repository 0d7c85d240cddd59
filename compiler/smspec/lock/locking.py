"""The next lock of a repository: what it already pins, and what some jobs need in addition."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping

from smspec.source.frozen import replace
from smspec.spec.lock import VERSION, Lock


def to_ask(lock: Lock, images: Iterable[str], given: Container[str], *, update: bool) -> tuple[str, ...]:
    """Return the images whose registries to query: those not given and, unless ``update``, not pinned."""
    return tuple(i for i in dict.fromkeys(images) if i not in given and (update or i not in lock.images))


def locked(
    lock: Lock,
    images: Mapping[str, str],
    requirements: Mapping[str, str],
    names: Mapping[str, str] | None = None,
    pythons: Mapping[str, str] | None = None,
) -> Lock:
    """Return the lock with these digests, and these URIs of short names, in addition to what it already pins.

    A different digest may be of an image with a different Python: only ``pythons`` has its version then.
    """
    kept = {
        image: known for image, known in lock.pythons.items() if images.get(image) in (None, lock.images.get(image))
    }
    return replace(
        lock,
        names={**lock.names, **(names or {})},
        images={**lock.images, **images},
        pythons={**kept, **(pythons or {})},
        requirements={**lock.requirements, **requirements},
    )


def lock_text(lock: Lock) -> str:
    """Return the content of the lock file: reproducible, and a change of one entry changes one line."""
    content = {
        "lock": VERSION,
        "smspec": lock.smspec,
        "api_model": lock.api_model,
        **({"locked": lock.locked} if lock.locked else {}),
        **({"image_table": lock.image_table, "names": dict(sorted(lock.names.items()))} if lock.names else {}),
        "images": dict(sorted(lock.images.items())),
        **({"pythons": dict(sorted(lock.pythons.items()))} if lock.pythons else {}),
        "requirements": dict(sorted(lock.requirements.items())),
        **_environments(lock),
    }
    return json.dumps(content, indent=2) + "\n"


def _environments(lock: Lock) -> dict[str, object]:
    """Return the section of the environments; none without any, so that a lock of images stays as it is."""
    found = {
        key: {
            "base": one.base,
            "platform": one.platform,
            "python": one.python,
            "packages": dict(sorted(one.packages.items())),
            "modules": sorted(one.modules),
            "unlisted": sorted(one.unlisted),
            "digest": one.digest,
            "resolver": one.resolver,
        }
        for key, one in sorted(lock.environments.items())
    }
    return {"environments": found} if found else {}
