"""The environment of an image in a lockfile, with its requirements file: ``smspec.lock.d/<key>.txt``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from smspec.diagnostics.unseen_names import line_faults
from smspec.plan.image_planning import environment_of
from smspec.plan.plan import ImagePlan, NeededEnvironment
from smspec.spec.lock import LockedEnvironment, content_digest, environment_file
from smspec.workspace.boundary import Boundary, FileNotRead

LARGEST = 1 << 20
"""Bytes of a file. With the hashes of every platform, 177 packages have a third of that."""


def needed_environment(
    image: ImagePlan,
    requirements: bytes | None,
    lock: str,
    environments: Mapping[str, LockedEnvironment],
    boundary: Boundary,
) -> NeededEnvironment | None:
    """Return the environment of an image in the lock at a path; None for an image that installs no packages."""
    key = environment_of(image, requirements)
    return None if key is None else environment_with_key(key, lock, environments, boundary)


def environment_with_key(
    key: str, lock: str, environments: Mapping[str, LockedEnvironment], boundary: Boundary
) -> NeededEnvironment:
    """Return the environment with a key in the lock at a path."""
    locked = environments.get(key)
    if locked is None:
        return NeededEnvironment(key=key)
    content, fault = _content(os.path.join(os.path.dirname(lock), environment_file(key)), locked.digest, boundary)
    return NeededEnvironment(key=key, locked=locked, content=content, fault=fault)


def _content(path: str, digest: str, boundary: Boundary) -> tuple[bytes | None, str]:
    """Return the content of a file with a digest; or None, and what is wrong with it."""
    if boundary.contains(path) and not os.path.lexists(path):
        return None, "is missing"
    try:
        content = boundary.read_named(path, LARGEST)
    except FileNotRead as fault:
        return None, fault.reason
    if len(content) > LARGEST:
        return None, f"is larger than {LARGEST >> 20} MiB"
    if content_digest(content) != digest:
        return None, "does not match smspec.lock"
    unseen = next(line_faults(content.decode("utf-8", "replace")), None)
    if unseen:
        return None, f"{unseen[1][1]} in line {unseen[0]}"
    return content, ""
