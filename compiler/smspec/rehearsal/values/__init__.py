"""The values in a file of a model, by their names: what the standard library can read without running anything.

A format is a function from data to `Leaves` that raises `Unreadable` for data of another format. Formats of archives
also take the function that decodes their members.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from smspec.rehearsal.trial import Trial
from smspec.rehearsal.values import archive_values, file_values, pickle_values
from smspec.rehearsal.values.leaf import Leaves, Unreadable, is_run_detail
from smspec.source.real_file import files_below

_ARCHIVES: tuple[Callable[[bytes, Callable[[bytes], Leaves | None]], Leaves], ...] = (
    archive_values.decode_compressed,
    archive_values.decode_zip,
    archive_values.decode_tar,
)
_FORMATS: tuple[Callable[[bytes], Leaves], ...] = (
    file_values.decode_array,
    file_values.decode_safetensors,
    pickle_values.decode,
    file_values.decode_json,
    file_values.decode_table,
    file_values.decode_text,
)
"""In the order in which they are tried: those with a magic number first, text last."""

_MOST_BYTES = 1 << 30
"""The largest file whose values are compared; of larger ones, the bytes are."""

_TRAIN_LOSS = re.compile(r"train_loss\W*$")


def decode(data: bytes) -> Leaves | None:
    """Return the values of a file, or None if its format is unknown; none at all for a pickle that cannot be read."""
    for unpack in _ARCHIVES:
        try:
            return unpack(data, decode)
        except Unreadable:
            continue
    for read in _FORMATS:
        try:
            return read(data)
        except Unreadable:
            continue
    return None


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


def last_values(trial: Trial) -> dict[tuple[str, str], float | None]:
    """Return (metric, host) → the last value in the log."""
    return {
        (values.metric, values.host): values.values[-1]
        for metric in trial.summary.metrics
        for values in metric.values
        if values.values
    }


def first_deviation(references: Sequence[Trial], last: Trial) -> str:
    """Return where the values of a metric after the restart leave those of undisturbed runs; empty if unknown."""
    series = [_series(reference) for reference in references]
    own = _series(last)
    for key, values in sorted(series[0].items(), key=lambda item: -len(item[1])):
        found = () if is_run_detail(key[0], {key[0]: None}) else own.get(key, ())
        if any(other.get(key) != values for other in series[1:]) or not 0 < len(found) <= len(values):
            continue
        start = len(values) - len(found)
        for index, (value, expected) in enumerate(zip(found, values[start:], strict=True)):
            if value != expected:
                return (
                    f"value {index + 1} of `{key[0]}` after the restart is {value}; "
                    f"value {start + index + 1} of {len(values)} in an undisturbed run is {expected}"
                )
    return ""


def _series(trial: Trial) -> dict[tuple[str, str], tuple[float | None, ...]]:
    """Return (metric, host) → all values, unless there are too many."""
    return {
        (values.metric, values.host): values.values
        for metric in trial.summary.metrics
        for values in metric.values
        if values.every == 1
    }


def is_of_summary(regex: str, trial: Trial, host: str) -> bool:
    """Return whether a metric ends with the `train_loss` of a Trainer of transformers: the mean over this start.

    It is in one line with `train_runtime`, and summed anew after a restart.
    """
    for line in reversed(trial.timeline.lines):
        match = re.search(regex, line.text) if line.host == host and "loss" in line.text else None
        if match is not None:
            before = line.text[: match.start(1) if match.re.groups else match.end()]
            return "train_runtime" in line.text and _TRAIN_LOSS.search(before) is not None
    return False
