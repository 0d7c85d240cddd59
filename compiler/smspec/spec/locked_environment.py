"""The packages that an image installs, resolved once: an environment of ``smspec.lock``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from smspec.source.frozen import dataclass

DIRECTORY = "smspec.lock.d"
"""The directory next to the lock: for each environment a requirements file with hashes."""

_INDEX_SETTINGS = ("PIP_", "UV_")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedEnvironment:
    """``base``: the pinned base image. ``platform``: such as ``linux/amd64``. ``python``: such as ``3.11``.

    ``packages``: normalized name → version. ``modules``: what scripts can import from them, as ``numpy`` and, for a
    namespace, ``google.cloud``. ``unlisted``: the packages whose modules are unknown, because they have no wheel.
    ``digest``: of the requirements file with hashes. ``resolver``: the program that resolved them, and its version.
    """

    base: str
    platform: str
    python: str
    packages: Mapping[str, str]
    modules: tuple[str, ...]
    unlisted: tuple[str, ...]
    digest: str
    resolver: str


def environment_key(
    *,
    base: str,
    platform: str,
    packages: tuple[str, ...],
    requirements: bytes | None,
    variables: Mapping[str, str],
    used: Mapping[str, str | None] | None = None,
) -> str:
    """Return the key of the environment that a job needs: 16 hexadecimal digits, the name of its file without suffix.

    ``base``: the base image with its locked digest. ``requirements``: the content of the author's file, whose comments
    do not count. ``variables``: those of the build, of which the settings of pip and uv count. ``used``: its other
    variables and secrets that choose the packages, a secret without its value.
    """
    content: dict[str, object] = {
        "base": base,
        "platform": platform,
        "packages": packages,
        "requirements": None if requirements is None else list(_lines(requirements)),
        "settings": {name: text for name, text in sorted(variables.items()) if name.startswith(_INDEX_SETTINGS)},
    }
    if used:
        content["used"] = dict(used)
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()[:16]


def environment_file(key: str) -> str:
    """Return the path of an environment's requirements file, from the directory of the lock."""
    return f"{DIRECTORY}/{key}.txt"


def _lines(requirements: bytes) -> Iterator[str]:
    """Yield the lines that mean something; a `#` begins a comment where a space or nothing is before it, as for pip."""
    for line in requirements.decode("utf-8-sig", "surrogateescape").splitlines():
        text = "" if line.lstrip().startswith("#") else line.partition(" #")[0].partition("\t#")[0]
        if text.strip():
            yield text.strip()
