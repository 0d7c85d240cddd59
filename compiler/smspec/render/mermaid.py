"""The flow of data between jobs as a Mermaid flowchart, which GitHub and GitLab render in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.render.data_flow import Flow, data_flow
from smspec.render.mermaid_label import mermaid_label
from smspec.spec.repository_facts import JobFacts

MOST_EDGES = 500
"""Mermaid draws no more than this unless the page configures it (its setting `maxEdges`)."""


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


def _linked(flows: Sequence[Flow]) -> tuple[Flow, ...]:
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
