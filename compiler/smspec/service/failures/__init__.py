"""Why a training job failed, from what is known of it: a registry of causes, and the search for one.

`CAUSES` is data: a pattern on a line of a FailureReason or a log, and what it means, what to change in the spec, and
whether a retry helps. `diagnose` searches a `JobFailure` for them. A line that shows what went wrong counts more than
one that shows its effect on other processes, and that more than an exit status; of equal lines of a host the last one
counts, and of hosts the one that failed first. The statuses of SageMaker and the request add what no line contains.

tests/failure_texts has reported failures with the right cause of each. A failure without a known cause has none here:
a wrong cause costs more than none. The package reads no file and no clock, and calls nothing.
"""

from __future__ import annotations

import functools
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from smspec.diagnostics.quoting import masked
from smspec.service.failures.host_causes import HOST_CAUSES
from smspec.service.failures.job_causes import (
    JOB_CAUSES,
    MAX_RUNTIME,
    MAX_WAIT,
    PENDING,
    ROOT,
    SPOT_WITHOUT_CHECKPOINTS,
    STOPPED,
    FailureCause,
)
from smspec.service.failures.script_causes import SCRIPT_CAUSES
from smspec.service.shapes import items, member
from smspec.source.frozen import dataclass, replace

CAUSES = (*JOB_CAUSES, *HOST_CAUSES, *SCRIPT_CAUSES)
"""Of those with a pattern in one line, and of one rank, the first one counts."""

MOST_LINES = 200
"""Of a host's log: a failure is in its last lines, and a search of one takes about a millisecond."""

_MOST_HOSTS = 256
"""A search of the last lines of so many hosts takes up to a minute."""

_LONGEST = 1024
"""Characters of a FailureReason, and of a line that is searched."""
_MOST_EVIDENCE = 200
RETRIES = {
    "no": "no, the job fails again without a change",
    "yes": "yes, the same job may succeed",
    "later": "later, once there is room",
}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|#033\[[0-9;]*[A-Za-z]|#01[15]|\r")
_OF_HOST = re.compile(r"^(?:\d{4}-\d\d-\d\dT[\d:.]+Z\s+)?(?:\S{1,40}-)?(algo-\d+)\S{0,20}\s+\| ")
_EXCEPTION = re.compile(r"^(?:\[[\w,]+\](?:<stderr>)?: ?|E\s+)?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Exit)(?:: |$)")
_WRAPPER = re.compile(
    r"ChildFailedError|CalledProcessError|ProcessRaisedException|ExecuteUserScriptError|SystemExit|TaskError"
)
"""Exceptions of launchers, which repeat that a process failed."""
_WARNING = re.compile(
    r"\b(?:WARNING|WARN|INFO|DEBUG)\b(?<!NCCL WARN)|\w*Warning: |\bRetrying\b|(?:^|\s)[WI] tensorflow/"
)
_ENDS_OTHERS = re.compile(r"Sending process .{0,40}closing signal|Killing subprocess")
"""Lines of launchers, which end the other processes."""
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]|\{[^}]*\}|.")
"""A part of a pattern: an escape, a set of characters, a number of repetitions, or a character."""
_SHORTEST_WORD = 3
_ERROR = re.compile(r"\b(?:ERROR|FATAL|CRITICAL)\b")
_NOT_FAILED = ("InProgress", "Stopping", "Completed")
_LIMITS = {"MaxRuntimeExceeded": MAX_RUNTIME, "MaxWaitTimeExceeded": MAX_WAIT}
_NOW = {
    "hosts.instance_type": ("ResourceConfig", "InstanceType"),
    "hosts.count": ("ResourceConfig", "InstanceCount"),
    "hosts.volume": ("ResourceConfig", "VolumeSizeInGB"),
    "stopping.max_runtime": ("StoppingCondition", "MaxRuntimeInSeconds"),
    "stopping.max_pending": ("StoppingCondition", "MaxPendingTimeInSeconds"),
    "spot.max_wait": ("StoppingCondition", "MaxWaitTimeInSeconds"),
    "output.s3": ("OutputDataConfig", "S3OutputPath"),
    "output.kms_key": ("OutputDataConfig", "KmsKeyId"),
    "network.isolation": ("EnableNetworkIsolation",),
    "role": ("RoleArn",),
}
"""The key of a spec → where its value is in a request. Units: GB and seconds."""
_UNITS = {"hosts.volume": "GB", "stopping.max_runtime": "s", "stopping.max_pending": "s", "spot.max_wait": "s"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailure:
    """What is known of a job that did not complete.

    ``status``: its TrainingJobStatus, if that is known; ``secondary``: its SecondaryStatus; ``history``: the secondary
    statuses and messages that it had; ``log``: the last lines of its hosts with the host of each, merged by time;
    ``request``: members of its CreateTrainingJob request, as far as they are known.
    """

    reason: str = ""
    status: str = ""
    secondary: str = ""
    history: tuple[tuple[str, str], ...] = ()
    log: Sequence[tuple[str, str]] = ()
    request: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """``cause`` None: smspec knows none. ``evidence``: the line that shows it, or else the last error, and its place.

    ``now``: the values that the keys of the cause have in the request. ``unknown``: what is shown instead of a cause.
    """

    cause: FailureCause | None
    evidence: str = ""
    place: str = ""
    now: tuple[tuple[str, str], ...] = ()
    unknown: str = "unknown to smspec"

    def lines(self) -> Iterator[str]:
        """Yield the lines for people."""
        cause = self.cause
        yield f"likely cause: {cause.cause} ({cause.name})" if cause else f"likely cause: {self.unknown}"
        if self.evidence:
            place = f" ({self.place})" if self.place else ""
            yield f"{'evidence' if cause else 'last error'}: {self.evidence}{place}"
        if cause is None:
            return
        yield f"what to do: {cause.fix}"
        if self.now:
            yield "now: " + ", ".join(f"`{key}` is {value}" for key, value in self.now)
        yield f"retry helps: {RETRIES[cause.retry]}"
        yield f"see: {cause.source}"

    def record(self) -> dict[str, object]:
        """Return the diagnosis as members of JSON."""
        cause = self.cause
        return {
            "cause": cause and cause.name,
            "likely_cause": cause and cause.cause,
            "unknown": None if cause else self.unknown,
            "what_to_do": cause and cause.fix,
            "keys": list(cause.keys) if cause else [],
            "values": dict(self.now),
            "retry": cause and cause.retry,
            "evidence": self.evidence or None,
            "evidence_place": self.place or None,
            "source": cause and cause.source,
        }


def diagnose(failure: JobFailure) -> Diagnosis:
    """Return why a job did not complete."""
    if failure.status in _NOT_FAILED:
        return Diagnosis(cause=None, unknown=f"none, the job is {failure.status}")
    by_status = _by_status(failure)
    if by_status is not None:
        return _with_values(by_status, failure.request)
    reason = _best(("FailureReason", line) for line in _reason_lines(failure.reason))
    if reason and reason[0].cause.rank == ROOT:
        return _with_values(reason[0].diagnosis, failure.request)
    found = [*_best(failure.log), *reason, *_best(("SecondaryStatusTransitions", text) for _, text in failure.history)]
    if not found:
        return _unknown(failure)
    return _with_values(min(found, key=lambda each: each.weight).diagnosis, failure.request)


def _by_status(failure: JobFailure) -> Diagnosis | None:
    """Return what the statuses of SageMaker show."""
    interrupted = sum(status == "Interrupted" for status, _ in failure.history)
    limit = _LIMITS.get(failure.secondary)
    spot = failure.request.get("EnableManagedSpotTraining") and not failure.request.get("CheckpointConfig")
    is_stopped = failure.secondary == "Stopped" and not failure.reason
    if interrupted and spot and not is_stopped and (limit is MAX_WAIT or not failure.reason):
        times = "once" if interrupted == 1 else f"{interrupted} times"
        evidence = f"the job was interrupted {times}, and has no CheckpointConfig"
        return Diagnosis(cause=SPOT_WITHOUT_CHECKPOINTS, evidence=evidence, place="SecondaryStatusTransitions")
    if limit is not None:
        return Diagnosis(cause=limit, evidence=failure.secondary, place="SecondaryStatus")
    if is_stopped:
        may_pend = member(failure.request, "StoppingCondition", "MaxPendingTimeInSeconds")
        cause = PENDING if may_pend and not failure.request.get("TrainingStartTime") else STOPPED
        return Diagnosis(cause=cause, evidence="Stopped", place="SecondaryStatus")
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A line with a cause."""

    cause: FailureCause
    line: str
    place: str
    number: int
    is_warning: bool

    @property
    def weight(self) -> tuple[int, bool]:
        return self.cause.rank, self.is_warning

    @property
    def diagnosis(self) -> Diagnosis:
        return Diagnosis(cause=self.cause, evidence=_shown(self.line), place=self.place)


def _best(lines: Iterable[tuple[str, str]]) -> list[_Found]:
    """Return, of each place, the last line that counts most: the place that failed first, first.

    A warning does not count if an exception without a known cause follows it.
    """
    best: dict[str, _Found] = {}
    unknown: dict[str, int] = {}
    for number, (place, line) in enumerate(lines):
        text = _plain(line)
        if _ENDS_OTHERS.search(text):
            continue
        cause = min(_causes_of(text), key=lambda each: each.rank, default=None)
        if cause is None:
            if _EXCEPTION.search(text) and not _WRAPPER.search(text):
                unknown[place] = number
            continue
        found = _Found(cause=cause, line=text, place=place, number=number, is_warning=bool(_WARNING.search(text)))
        if place not in best or found.weight <= best[place].weight:
            best[place] = found
    certain = [each for each in best.values() if not each.is_warning or unknown.get(each.place, -1) < each.number]
    return sorted(certain, key=lambda each: each.number)


def _causes_of(line: str) -> Iterator[FailureCause]:
    small = line.lower()
    for cause, words, pattern in _patterns():
        if (not words or any(word in small for word in words)) and pattern.search(line):
            yield cause


@functools.cache
def _patterns() -> tuple[tuple[FailureCause, frozenset[str], re.Pattern[str]], ...]:
    """Compile the patterns when a failure is searched, which takes a tenth of a second."""
    flags = re.IGNORECASE | re.ASCII
    return tuple((each, words_of(each.pattern), re.compile(each.pattern, flags)) for each in CAUSES if each.pattern)


def words_of(pattern: str) -> frozenset[str]:
    """Return words of which each line that matches has at least one, or none if a line may have none.

    They are the longest piece of plain characters, out of groups, of each alternative. To look for them first makes a
    search several times as fast.
    """
    words, pieces, depth = set(), [""], 0
    for token in (*_TOKEN.findall(pattern), "|"):
        if token == "|" and not depth:
            longest = max(pieces, key=len)
            if len(longest) < _SHORTEST_WORD:
                return frozenset()
            words.add(longest)
            pieces = [""]
            continue
        depth += (token == "(") - (token == ")")
        plain = token[1:] if token[0] == "\\" and not token[1].isalnum() else token
        if token[0] in "?*{":
            pieces[-1] = pieces[-1][:-1]
        if depth or len(plain) > 1 or token in tuple(".^$)+?*"):
            pieces.append("")
        else:
            pieces[-1] += plain.lower()
    return frozenset(words)


def _reason_lines(reason: str) -> list[str]:
    """Return the lines of a FailureReason, and all of it as one line: a pattern may have words of two."""
    lines = reason[:_LONGEST].splitlines()
    return lines if len(lines) < 2 else [" ".join(map(str.strip, lines)), *lines]


def _plain(line: str) -> str:
    return _ESCAPES.sub("", line[:_LONGEST]).rstrip()


def _shown(line: str) -> str:
    text = masked(" ".join(line.split()))
    return text if len(text) <= _MOST_EVIDENCE else f"{text[:_MOST_EVIDENCE]}…"


def _unknown(failure: JobFailure) -> Diagnosis:
    """Return a diagnosis without a cause, with the last error: of the log, whose reason repeats it at best."""
    for place, line in reversed([*(("FailureReason", line) for line in failure.reason.splitlines()), *failure.log]):
        text = _plain(line)
        if (_EXCEPTION.search(text) or _ERROR.search(text)) and not _WRAPPER.search(text):
            return Diagnosis(cause=None, evidence=_shown(text), place=place)
    return Diagnosis(cause=None)


def _with_values(diagnosis: Diagnosis, request: Mapping[str, Any]) -> Diagnosis:
    if diagnosis.cause is None or not request:
        return diagnosis
    found = [(key, member(request, *_NOW[key])) for key in diagnosis.cause.keys if key in _NOW]
    now = tuple((key, f"{value}{_UNITS.get(key, '')}") for key, value in found if isinstance(value, (str, int)))
    return replace(diagnosis, now=now)


class LogTails:
    """The last lines of each host, in the order in which they arrive; of many hosts, of those with the last lines."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[tuple[int, str]]] = {}
        self._count = 0

    def take(self, host: str, line: str) -> None:
        self._count += 1
        lines = self._lines.pop(host, None) or deque(maxlen=MOST_LINES)
        lines.append((self._count, line))
        self._lines[host] = lines
        if len(self._lines) > _MOST_HOSTS:
            del self._lines[next(iter(self._lines))]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The host and the text of each line."""
        merged = sorted((number, host, line) for host, lines in self._lines.items() for number, line in lines)
        return [(host, line) for _, host, line in merged]


def failure_of(answer: Mapping[str, Any], log: Sequence[tuple[str, str]] = ()) -> JobFailure:
    """Return the failure of a response of DescribeTrainingJob."""
    history = [
        (str(member(each, "Status") or ""), str(member(each, "StatusMessage") or ""))
        for each in items(answer, "SecondaryStatusTransitions")
    ]
    return JobFailure(
        reason=str(answer.get("FailureReason") or ""),
        status=str(answer.get("TrainingJobStatus") or ""),
        secondary=str(answer.get("SecondaryStatus") or ""),
        history=tuple(history),
        log=log,
        request=answer,
    )


def failure_in(text: str) -> JobFailure:
    """Return the failure in a copied text: a reason, a log, or JSON of the AWS CLI.

    That is a response of DescribeTrainingJob, GetLogEvents, or FilterLogEvents. A log may have the hosts of its lines.
    """
    with_answer = _answer(text)
    if with_answer is not None and "events" not in with_answer:
        return failure_of(with_answer)
    events = items(with_answer, "events") if with_answer is not None else ()
    lines = [str(member(each, "message") or "") for each in events] if with_answer else text.splitlines()
    tails = LogTails()
    for line in lines:
        found = _OF_HOST.match(_ESCAPES.sub("", line[:_LONGEST]))
        tails.take(found[1] if found else "", line)
    return JobFailure(log=tails.lines)


def _answer(text: str) -> Mapping[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    known = ("TrainingJobName", "TrainingJobStatus", "SecondaryStatus", "FailureReason", "events")
    return document if isinstance(document, dict) and any(name in document for name in known) else None
