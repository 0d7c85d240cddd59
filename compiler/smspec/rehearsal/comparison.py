"""Compare the model and the metrics of an interrupted job with those of undisturbed runs.

What differs between two undisturbed runs, such as a time or unseeded noise, does not count. What is equal in them must
be equal after an interruption too, or within the tolerance of the spec.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from smspec.rehearsal.run_detail import is_log, is_run_detail
from smspec.rehearsal.trial import Trial
from smspec.rehearsal.values import decode
from smspec.rehearsal.values.leaf import (
    COUNT,
    LONG,
    SHORT,
    Array,
    Leaf,
    Leaves,
    described,
    evidence_of,
    is_number,
    same,
)
from smspec.source.deep_directories import walked
from smspec.source.frozen import dataclass, replace

_MOST_BYTES = 1 << 30
"""The largest file whose values are compared; of larger ones, the bytes are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``what`` is a file or a metric, ``text`` a sentence about its first value that differs; ``count`` of them do.

    ``evidence``: that of the value which says most.
    """

    what: str
    text: str
    count: int = 1
    evidence: int = LONG

    def __str__(self) -> str:
        more = f" (the first of {self.count:,} values)" if self.count > 1 else ""
        return f"{self.text}{more}"


class Comparison:
    """The result of an interrupted job, whose last run is ``trial``, compared with undisturbed runs.

    ``tolerance`` None: numbers must be equal. ``compared``: files and metrics; ``left_out``: the others, and why.
    ``hide`` masks the secrets in a text.
    """

    def __init__(
        self, references: Sequence[Trial], trial: Trial, tolerance: float | None, hide: Callable[[str], str] = str
    ) -> None:
        self._references = references
        self._hide = hide
        self._tolerance = tolerance
        self.compared: set[str] = set()
        self.left_out: dict[str, str] = {}
        found = [*self._of_metrics(trial), *self._of_models(trial)]
        is_noisy = any(difference.evidence == SHORT for difference in found) and self._is_noisy()
        self.differences = [difference for difference in found if difference.evidence > SHORT or not is_noisy]

    @property
    def is_certain(self) -> bool:
        """Whether a value differs on which undisturbed runs hardly agree by chance."""
        return any(difference.evidence == LONG for difference in self.differences)

    def _is_noisy(self) -> bool:
        """Return whether undisturbed runs give models with different numbers, apart from times.

        In such a job, a rounded number or a word that is equal in all of them may be another one in the next run.
        """
        files = [_files(reference) for reference in self._references]
        for name in set.intersection(*map(set, files)):
            leaves = [_leaves(one[name], _digest(one[name])) or {} for one in files]
            for path, value in leaves[0].items():
                if (isinstance(value, Array) or is_number(value)) and not is_run_detail(path, leaves[0]):
                    others = [other[path] for other in leaves[1:] if path in other]
                    if not all(same(value, other, self._tolerance) for other in others):
                        return True
        return False

    def _is_resumed_from(self, expected: Leaf, found: Leaf) -> bool:
        """Return whether a value is the checkpoint with which the restarted job began, as `_name_or_path` may be."""
        directory = self._references[0].checkpoints
        names = [directory is not None and isinstance(one, str) and directory in one for one in (expected, found)]
        return names == [False, True]

    def _masked(self, value: Leaf) -> Leaf:
        """Mask the secrets in a value before it is cut."""
        return self._hide(value) if isinstance(value, str) else value

    def _of_metrics(self, trial: Trial) -> Iterator[Difference]:
        references = [_last_values(reference) for reference in self._references]
        values = _last_values(trial)
        for key in references[0]:
            if key not in values:
                # The job was interrupted after it had saved this step, and before it logged it.
                self.left_out[f"metric `{key[0]}`"] = "the last start logged none"
                continue
            name, host = key
            expected: list[Leaves] = [{name: other[key]} if key in other else {} for other in references]
            found: Leaves = {name: values[key]}
            for difference in self._of_leaves(f"metric `{name}`", expected, found, is_metric=True):
                where = f" of {host}" if len(trial.hosts) > 1 else ""
                yield replace(difference, text=f"{difference.text}{where}")

    def _of_models(self, trial: Trial) -> Iterator[Difference]:
        expected = [_files(reference) for reference in self._references]
        found = _files(trial)
        for name in expected[0]:
            if any(name not in other for other in expected[1:]):
                self.left_out[f"`{name}`"] = "undisturbed runs write it under different names"
            elif is_log(name):
                self.left_out[f"`{name}`"] = "it is a log"
            elif name not in found:
                yield Difference(what=name, text=f"the model has no `{name}`")
            else:
                yield from self._of_file(name, [other[name] for other in expected], found[name])

    def _of_file(self, name: str, expected: Sequence[str], found: str) -> Iterator[Difference]:
        digests = [_digest(path) for path in expected]
        own_digest = _digest(found)
        if own_digest in digests:
            self.compared.add(f"`{name}`")
            return
        leaves = [_leaves(path, digest) for path, digest in zip(expected, digests, strict=True)]
        own = _leaves(found, own_digest)
        known = [one for one in leaves if one is not None]
        if len(known) == len(leaves) and own is not None:
            yield from self._of_leaves(f"`{name}`", known, own)
        elif len(set(digests)) == 1:
            self.compared.add(f"`{name}`")
            place = (
                "cannot be read"
                if own is None and all(leaves)
                else f"differs from byte {_first(expected[0], found):,} on"
            )
            yield Difference(what=name, text=f"`{name}` {place}")
        else:
            self.left_out[f"`{name}`"] = "undisturbed runs differ, and smspec cannot read its values"

    def _of_leaves(
        self, what: str, expected: Sequence[Leaves], found: Leaves, is_metric: bool = False
    ) -> Iterator[Difference]:
        differing: list[str] = []
        evidence = [SHORT]
        steady = 0
        for path, value in expected[0].items():
            others = [other[path] for other in expected[1:] if path in other]
            is_steady = len(others) == len(expected) - 1 and all(
                same(value, other, self._tolerance) for other in others
            )
            if not is_steady or is_run_detail(path, expected[0]) or self._is_resumed_from(value, found.get(path)):
                continue
            steady += 1
            name = what if is_metric else f"{what}: `{path}`" if path else what
            if path not in found:
                differing.append(f"{name} is missing")
                evidence.append(COUNT)
            elif not any(same(found[path], one, self._tolerance) for one in (value, *others)):
                differing.append(f"{name} {described(*map(self._masked, (found[path], value)))}")
                evidence.append(evidence_of(value))
        known = set().union(*expected)
        if all(other.keys() == expected[0].keys() for other in expected[1:]):
            more = [
                f"{what} has `{path}`, which undisturbed runs do not have"
                for path in found
                if path not in known and path.endswith("]") and not is_run_detail(path, found)
            ]
            differing += more
            evidence += [COUNT] * bool(more)
        if steady:
            self.compared.add(what)
        else:
            known_values = "undisturbed runs differ in all of its values"
            self.left_out[what] = known_values if expected[0] else "smspec cannot read its values"
        if differing:
            yield Difference(what=what, text=differing[0], count=len(differing), evidence=max(evidence))


def _last_values(trial: Trial) -> dict[tuple[str, str], float | None]:
    """Return (metric, host) → the last value in the log."""
    return {
        (values.metric, values.host): values.values[-1]
        for metric in trial.summary.metrics
        for values in metric.values
        if values.values
    }


def _files(trial: Trial) -> dict[str, str]:
    """Return the files of the model, name → path; of several hosts, the later one wins, as in model.tar.gz."""
    found: dict[str, str] = {}
    for host in trial.hosts:
        root = trial.model_directory(host)
        # A script may have removed it, or put a link there.
        if (
            not os.path.isdir(root)
            or os.path.realpath(root) != os.path.realpath(trial.directory) + root[len(trial.directory) :]
        ):
            continue
        for directory, _, names in walked(root):
            for name in names:
                path = os.path.join(directory, name)
                if os.path.isfile(path):
                    found[os.path.relpath(path, root)] = path
    return found


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


@lru_cache(maxsize=8)
def _leaves(path: str, _digest: str) -> Leaves | None:
    if os.path.getsize(path) > _MOST_BYTES:
        return None
    with open(path, "rb") as file:
        return decode(file.read())


def _first(expected: str, found: str) -> int:
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
