"""The files of the model that a run left, and their values."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache

from smspec.rehearsal.trial import Trial
from smspec.rehearsal.values import decode
from smspec.rehearsal.values.leaf import Leaves
from smspec.source.deep_directories import files_below

_MOST_BYTES = 1 << 30
"""The largest file whose values are compared; of larger ones, the bytes are."""


def files_of(trial: Trial) -> dict[str, str]:
    """Return the files of the model, name → path; of several hosts, the later one wins, as in model.tar.gz."""
    found: dict[str, str] = {}
    for host in trial.hosts:
        root = trial.model_directory(host)
        if not trial.is_real(root):
            continue
        inside = os.path.realpath(root) + os.sep
        for name, path in files_below(root).items():
            # A link to a different place is not in model.tar.gz.
            if os.path.realpath(path).startswith(inside) and os.path.isfile(path) and os.access(path, os.R_OK):
                found[name] = path
    return found


def digest_of(path: str) -> str:
    """Return a digest of the bytes of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


@lru_cache(maxsize=8)
def leaves_of(path: str, _digest: str) -> Leaves | None:
    """Return the values of a file with a digest, None if its format is unknown; they are read once."""
    if os.path.getsize(path) > _MOST_BYTES:
        return None
    with open(path, "rb") as file:
        return decode(file.read())


def first_difference(expected: str, found: str) -> int:
    """Return the position of the first byte that differs."""
    position = 0
    with open(expected, "rb") as first, open(found, "rb") as second:
        while True:
            parts = first.read(1 << 20), second.read(1 << 20)
            if parts[0] != parts[1] or not parts[0]:
                pairs = zip(*parts, strict=False)
                same_bytes = next((index for index, (a, b) in enumerate(pairs) if a != b), min(map(len, parts)))
                return position + same_bytes
            position += len(parts[0])
