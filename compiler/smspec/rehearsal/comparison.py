"""Compare the model and the metrics of an interrupted job with those of undisturbed runs.

What differs between two undisturbed runs, such as a time or unseeded noise, does not count. What is equal in them must
be equal after an interruption too, or within the tolerance of the spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from smspec.rehearsal.trial import Trial
from smspec.rehearsal.values import digest_of, files_of, first_difference, is_of_summary, last_values, leaves_of
from smspec.rehearsal.values.leaf import (
    COUNT,
    LONG,
    SHORT,
    Array,
    Leaf,
    Leaves,
    described,
    evidence_of,
    is_log,
    is_number,
    is_of_this_start,
    is_run_detail,
    same,
)
from smspec.source.frozen import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``what`` is a file or a metric, ``text`` a sentence about its first value that differs; ``count`` of them do.

    ``evidence``: that of the value which says most.
    """

    what: str
    text: str
    count: int = 1
    evidence: int = LONG
    is_of_this_start: bool = False

    def __str__(self) -> str:
        more = f" (the first of {self.count:,} values)" if self.count > 1 else ""
        return f"{self.text}{more}"


class ResultComparison:
    """The result of an interrupted job, whose last run is ``trial``, compared with undisturbed runs.

    ``tolerance`` None: numbers must be equal. ``hide`` masks the secrets in a text. ``regexes``: those of the metrics.
    ``compared``: files and metrics; ``left_out``: the others, and why. ``remarks``: differences of a right job.
    ``unconfirmed``: what differed, until the trial was repeated.
    """

    def __init__(
        self,
        references: Sequence[Trial],
        trial: Trial,
        tolerance: float | None,
        hide: Callable[[str], str] = str,
        regexes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._references = references
        self._hide = hide
        self._tolerance = tolerance
        self._regexes = regexes
        self._open: set[str] = set()
        self.compared: set[str] = set()
        self.left_out: dict[str, str] = {}
        self.remarks: list[Difference] = []
        self.unconfirmed: set[str] = set()
        found = [*self._of_metrics(trial), *self._of_models(trial)]
        if any(difference.evidence == SHORT for difference in found) and self._is_noisy():
            found = [difference for difference in found if difference.evidence > SHORT]
        if all(difference.is_of_this_start for difference in found) and found and self._has_equal_numbers(trial):
            self.remarks, found = found, []
        self.differences = found

    @property
    def is_certain(self) -> bool:
        """Whether a value differs on which undisturbed runs hardly agree by chance."""
        return any(difference.evidence == LONG for difference in self.differences)

    @property
    def is_whole(self) -> bool:
        """Whether each value of the model was compared; of a job without a model, each metric."""
        for are_files in (True, False):
            known, unknown = (
                {what for what in found if what.startswith("`") == are_files} for found in (self.compared, self._open)
            )
            if known or unknown:
                return not unknown
        return False

    def confirmed_by(self, other: ResultComparison) -> None:
        """Leave out each difference that a repeated trial does not show again: it comes and goes."""
        again = {difference.what for difference in other.differences}
        for difference in self.differences:
            if difference.what not in again:
                self.unconfirmed.add(difference.what)
                self.leave_out(difference.what)

    def leave_out(self, what: str) -> None:
        """Let a file or a metric not accuse, unless a value with many digits does."""
        self.differences = [one for one in self.differences if one.what != what or one.evidence == LONG]
        self._open.add(what)
        if what in self.compared and not any(one.what == what for one in self.differences):
            self.compared.discard(what)
            self.left_out[what] = "it differs after some disturbances, and not after the same ones again"

    def _is_noisy(self) -> bool:
        """Return whether undisturbed runs give models with different numbers, apart from times.

        In such a job, a rounded number or a word that is equal in all of them may be another one in the next run.
        """
        return not all(self._are_same(values) for values in _numbers(self._references))

    def _has_equal_numbers(self, trial: Trial) -> bool:
        """Return whether the models have numbers that are equal in all runs, and in no others by chance."""
        return any(
            not isinstance(values[0], int) and evidence_of(values[0]) == LONG and self._are_same(values)
            for values in _numbers([*self._references, trial])
        )

    def _are_same(self, values: Sequence[Leaf]) -> bool:
        return all(same(values[0], other, self._tolerance) for other in values[1:])

    def _is_resumed_from(self, expected: Leaf, found: Leaf) -> bool:
        """Return whether a value is the checkpoint with which the restarted job began, as `_name_or_path` may be."""
        directory = self._references[0].checkpoints
        names = [directory is not None and isinstance(one, str) and directory in one for one in (expected, found)]
        return names == [False, True]

    def _masked(self, value: Leaf) -> Leaf:
        """Mask the secrets in a value before it is cut."""
        return self._hide(value) if isinstance(value, str) else value

    def _of_metrics(self, trial: Trial) -> Iterator[Difference]:
        references = [last_values(reference) for reference in self._references]
        values = last_values(trial)
        for key in references[0]:
            if key not in values:
                # The job was interrupted after it had saved this step, and before it logged it.
                self.left_out[f"metric `{key[0]}`"] = "the last start logged none"
                self._open.add(f"metric `{key[0]}`")
                continue
            name, host = key
            if is_of_summary(self._regexes.get(name, ""), self._references[0], host):
                self.left_out[f"metric `{name}`"] = "it is the mean over the last start alone"
                continue
            expected: list[Leaves] = [{name: other[key]} if key in other else {} for other in references]
            found: Leaves = {name: values[key]}
            for difference in self._of_leaves(f"metric `{name}`", expected, found, is_metric=True):
                where = f" of {host}" if len(trial.hosts) > 1 else ""
                yield replace(difference, text=f"{difference.text}{where}")

    def _of_models(self, trial: Trial) -> Iterator[Difference]:
        expected = [files_of(reference) for reference in self._references]
        found = files_of(trial)
        for name in expected[0]:
            if any(name not in other for other in expected[1:]):
                self._open.add(f"`{name}`")
                self.left_out[f"`{name}`"] = "undisturbed runs write it under different names"
            elif is_log(name):
                self.left_out[f"`{name}`"] = "it is a log"
            elif name not in found:
                # A number in a name, such as that of the best epoch, may be another one in the next run.
                evidence = COUNT if any(map(str.isdigit, name)) else LONG
                yield Difference(what=f"`{name}`", text=f"the model has no `{name}`", evidence=evidence)
            else:
                yield from self._of_file(name, [other[name] for other in expected], found[name])

    def _of_file(self, name: str, expected: Sequence[str], found: str) -> Iterator[Difference]:
        digests = [digest_of(path) for path in expected]
        own_digest = digest_of(found)
        if own_digest in digests:
            self.compared.add(f"`{name}`")
            return
        leaves = [leaves_of(path, digest) for path, digest in zip(expected, digests, strict=True)]
        own = leaves_of(found, own_digest)
        known = [one for one in leaves if one is not None]
        if len(known) == len(leaves) and own is not None:
            yield from self._of_leaves(f"`{name}`", known, own)
        elif len(set(digests)) == 1:
            self.compared.add(f"`{name}`")
            place = (
                "cannot be read"
                if own is None and all(leaves)
                else f"differs from byte {first_difference(expected[0], found):,} on"
            )
            yield Difference(what=f"`{name}`", text=f"`{name}` {place}")
        else:
            self._open.add(f"`{name}`")
            self.left_out[f"`{name}`"] = "undisturbed runs differ, and smspec cannot read its values"

    def _of_leaves(
        self, what: str, expected: Sequence[Leaves], found: Leaves, is_metric: bool = False
    ) -> Iterator[Difference]:
        differing: list[str] = []
        of_this_start: list[str] = []
        evidence = [SHORT]
        steady = 0
        for path, value in expected[0].items():
            if is_run_detail(path, expected[0]) or self._is_resumed_from(value, found.get(path)):
                continue
            others = [other[path] for other in expected[1:] if path in other]
            if len(others) < len(expected) - 1 or not self._are_same([value, *others]):
                self._open.add(what)
                continue
            steady += 1
            name = what if is_metric else f"{what}: `{path}`" if path else what
            if path not in found:
                differing.append(f"{name} is missing")
                evidence.append(COUNT)
                continue
            if any(same(found[path], one, self._tolerance) for one in (value, *others)):
                continue
            text = f"{name} {described(*map(self._masked, (found[path], value)))}"
            if is_of_this_start(path, found[path], value):
                of_this_start.append(text)
            else:
                differing.append(text)
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
            self._open.add(what)
            self.left_out[what] = known_values if expected[0] else "smspec cannot read its values"
        if differing:
            count = len(differing) + len(of_this_start)
            yield Difference(what=what, text=differing[0], count=count, evidence=max(evidence))
        elif of_this_start:
            text = of_this_start[0]
            yield Difference(what=what, text=text, count=len(of_this_start), evidence=COUNT, is_of_this_start=True)


def _numbers(trials: Sequence[Trial]) -> Iterator[list[Leaf]]:
    """Yield the values of each number in the models that is not about the run, from the runs that have it."""
    files = [files_of(trial) for trial in trials]
    for name in set.intersection(*map(set, files)):
        leaves = [leaves_of(one[name], digest_of(one[name])) or {} for one in files]
        for path, value in leaves[0].items():
            if (isinstance(value, Array) or is_number(value)) and not is_run_detail(path, leaves[0]):
                yield [value, *(other[path] for other in leaves[1:] if path in other)]
