"""Which job writes to which S3 prefix, and which reads the output of a different one; also as a Mermaid flowchart.

Which of several writers a job reads is not certain, so the graph has prefixes between jobs.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal

from smspec.diagnostics.quoting import visible, without_tokens
from smspec.service.s3_address import above, normal
from smspec.source.frozen import dataclass
from smspec.spec.repository_facts import JobFacts

_DIGEST = re.compile(r"-[0-9a-f]{10}")

_PLAIN = frozenset(string.ascii_letters + string.digits + "-_./,: ()…")

# Mermaid removes the last `;` of a line that looks like a style, and so breaks an entity at its end.
_STYLING = {"style": "st#121;le", "classDef": "class#68;ef"}

MOST_EDGES = 500
"""Mermaid draws no more than this unless the page configures it (its setting `maxEdges`)."""


@dataclass(frozen=True, slots=True)
class DataFlow:
    """Data between the job of the spec ``file`` and ``prefix``. ``what``: a kind of output, or a channel.

    ``overlays``: only with these; empty: in the spec on its own.
    """

    file: str
    prefix: str
    way: Literal["writes", "reads"]
    what: str
    overlays: tuple[str, ...]


class _Places:
    """The prefixes that jobs write to, normalized and sorted, with the jobs that write there."""

    def __init__(self, jobs: Sequence[JobFacts]) -> None:
        self._writers: dict[str, list[tuple[str, JobFacts]]] = {}
        for job in jobs:
            for kind, text in _written(job):
                self._writers.setdefault(normal(text), []).append((kind, job))
        self._sorted = sorted(self._writers)

    def read_by(self, file: str, data: str) -> Iterator[str]:
        """Yield the prefixes at, below, or around ``data`` that a different file's job writes to."""
        # A channel reads every object whose key starts with its prefix, even in the middle of a name.
        at = bisect_left(self._sorted, data)
        while at < len(self._sorted) and self._sorted[at].startswith(data):
            if self._others(file, self._sorted[at]):
                yield self._sorted[at]
            at += 1
        around = [prefix for prefix in (normal(data), *above(normal(data))) if not prefix.startswith(data)]
        known = [(prefix, self._others(file, prefix)) for prefix in around if prefix in self._writers]
        for prefix, writers in known:
            if any(_writes(kind, job, data.removeprefix(prefix)) for kind, job in writers):
                yield prefix
                return
        # A part of a prefix that belongs to no job: it can only be meant if one job writes there.
        for prefix, writers in known:
            if len({job.file for _, job in writers}) == 1 and len(self._writers[prefix]) == len(writers):
                yield prefix
                return

    def _others(self, file: str, prefix: str) -> list[tuple[str, JobFacts]]:
        return [(kind, job) for kind, job in self._writers[prefix] if job.file != file]


def data_flow(jobs: Sequence[JobFacts]) -> tuple[DataFlow, ...]:
    """Return what the jobs write, and what they read from each other; in the order of the jobs, without duplicates."""
    places = _Places(jobs)
    found: dict[tuple[str, str, Literal["writes", "reads"], str], list[str | None]] = {}
    for job in jobs:
        for kind, text in _written(job):
            found.setdefault((job.file, normal(text), "writes", kind), []).append(job.overlay)
    for job in jobs:
        for channel, data in job.channels:
            for prefix in places.read_by(job.file, data.text):
                found.setdefault((job.file, prefix, "reads", channel), []).append(job.overlay)
    variants: dict[str, int] = {}
    for job in jobs:
        variants[job.file] = variants.get(job.file, 0) + 1
    return tuple(
        DataFlow(*key, () if None in overlays or variants[key[0]] == 1 else tuple(str(name) for name in overlays))
        for key, overlays in found.items()
    )


def _written(job: JobFacts) -> Iterator[tuple[str, str]]:
    for kind, stated in (("output", job.output), ("checkpoints", job.checkpoints), ("tensorboard", job.tensorboard)):
        if stated:
            yield kind, stated.text


def _writes(kind: str, job: JobFacts, rest: str) -> bool:
    """Return whether a job writes to ``rest``, relative to its prefix; SageMaker appends the job name to an output."""
    if kind == "checkpoints":
        return True
    part, slash, _ = rest.partition("/")
    names = (job.name.text, job.job_name.text)
    made = part.startswith(job.name.text) and _DIGEST.fullmatch(part[len(job.name.text) :]) is not None
    return part in names or made or (not slash and job.job_name.text.startswith(part))


def mermaid_label(text: str) -> str:
    """Return a text in quotes, with all characters that have a meaning in Mermaid or HTML as numeric entities."""
    label = "".join(
        character if character in _PLAIN else f"#{ord(character)};" for character in visible(without_tokens(text))
    )
    for word, entity in _STYLING.items():
        label = label.replace(word, entity)
    return f'"{label}"'


def mermaid(jobs: Sequence[JobFacts]) -> str:
    """Return the graph of the jobs, in their order, and of the prefixes they write to, sorted.

    A graph with too many edges shows only the jobs that read from each other.
    """
    flows = data_flow(jobs)
    files = list(dict.fromkeys(job.file for job in jobs))
    left_out = 0
    if len(flows) > MOST_EDGES:
        flows = _linked(flows)
        kept = {flow.file for flow in flows}
        left_out = sum(file not in kept for file in files)
        files = [file for file in files if file in kept]
    nodes = {file: f"job{number}" for number, file in enumerate(files, 1)}
    prefixes = sorted({flow.prefix for flow in flows})
    places = {prefix: f"s3_{number}" for number, prefix in enumerate(prefixes, 1)}
    lines = ["flowchart LR"]
    if left_out:
        lines.append(
            f"  %% not shown: {left_out} {'job' if left_out == 1 else 'jobs'} without data flow to or from other jobs"
        )
    lines += [f"  {nodes[file]}[{mermaid_label(label)}]" for file, label in _labels(jobs) if file in nodes]
    lines += [f"  {places[prefix]}[({mermaid_label(prefix)})]" for prefix in prefixes]
    for flow in flows:
        label = mermaid_label(flow.what + (f" ({', '.join(flow.overlays)})" if flow.overlays else ""))
        ends = (nodes[flow.file], places[flow.prefix])
        source, target = ends if flow.way == "writes" else reversed(ends)
        lines.append(f"  {source} -->|{label}| {target}")
    return "\n".join(lines) + "\n"


def _linked(flows: Sequence[DataFlow]) -> tuple[DataFlow, ...]:
    """Return the flows through prefixes that some job reads."""
    read = {flow.prefix for flow in flows if flow.way == "reads"}
    return tuple(flow for flow in flows if flow.prefix in read)


def _labels(jobs: Sequence[JobFacts]) -> list[tuple[str, str]]:
    """Return the label of each file's job: its name, with its file if the name is not unique."""
    names: dict[str, str] = {}
    for job in jobs:
        names.setdefault(job.file, job.name.text)
    count: dict[str, int] = {}
    for name in names.values():
        count[name] = count.get(name, 0) + 1
    return [(file, name if count[name] == 1 else f"{name} ({file})") for file, name in names.items()]
