"""Dated facts about AWS that no API of a job returns: its images, accounts, and what they contain.

Each `Table` is a CSV file of this package: one row per fact, so that a refresh is reviewed as a diff. Its first line
has its date and its sources. A module of this package reads one table, when a job first needs it. An empty cell is
unknown.
A finding from a table whose facts change over time is a warning that names the date of the table.
"""

from __future__ import annotations

import os
from functools import cache

from smspec.source.frozen import dataclass

Row = dict[str, str]
"""A cell for each column; an empty one is unknown."""

_BEGINNING = "# as of "


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """``date`` is that of the newest source; ``source`` names the sources and their license. ``lines`` are unparsed."""

    date: str
    source: str
    columns: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def as_of(self) -> str:
        """The end of a message about something that may have changed since."""
        return f"as of {self.date}"

    def rows(self, first: str | None = None) -> tuple[Row, ...]:
        """Return the rows, in order; only those whose first cell is ``first``, if it is given.

        A job needs few rows of a table, so the others are not parsed.
        """
        beginning = "" if first is None else f"{first},"
        chosen = (line for line in self.lines if line.startswith(beginning))
        return tuple(dict(zip(self.columns, _cells(line), strict=True)) for line in chosen)


def parsed_table(text: str) -> Table:
    """Parse the content of a table. No cell contains a line break, and no first cell is quoted."""
    first, header, *lines = text.splitlines()
    date, _, source = first.removeprefix(_BEGINNING).partition(": ")
    return Table(date=date, source=source, columns=tuple(header.split(",")), lines=tuple(lines))


def table_path(name: str) -> str:
    """Return the path of a table in this package."""
    return os.path.join(os.path.dirname(__file__), f"{name}.csv")


@cache
def table(name: str) -> Table:
    """Return a table of this package; its file is read once."""
    with open(table_path(name), encoding="utf-8", newline="") as file:
        return parsed_table(file.read())


def _cells(line: str) -> list[str]:
    if '"' not in line:
        return line.split(",")
    # Imported late: few rows contain quotes.
    import csv

    return next(csv.reader([line], strict=True))


_GIGABIT, _MEGABIT = 1e9 / 8, 1e6 / 8


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFacts:
    """One instance type; None is unknown, 0 is none. ``nvme_gb`` is its local storage in all."""

    vcpus: int | None
    memory_bytes: int | None
    gpus: int | None
    neuron_cores: int | None
    nvme_gb: int | None
    efa_interfaces: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """Bytes per second, always available (``baseline``) and at most, for bursts (``peak``)."""

    baseline: float
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceBandwidth:
    """``network`` is that of the first network card, which reaches S3; ``volumes``: all EBS volumes together."""

    network: Bandwidth
    volumes: Bandwidth


@cache
def instance(kind: str) -> InstanceFacts | None:
    """Return the facts about a type such as ``ml.g5.xlarge``; None for a type that is not in the table."""
    facts = table("instances")
    cells = _instance_cells(facts, kind)
    if cells is None:
        return None
    row = dict(zip(facts.columns, cells, strict=True))
    devices = _number(row["neurons"])
    mebibytes = _number(row["memory_mib"])
    return InstanceFacts(
        vcpus=_number(row["vcpu"]),
        memory_bytes=mebibytes << 20 if mebibytes is not None else None,
        gpus=_number(row["gpus"]),
        neuron_cores=devices * (_number(row["neuron_cores"]) or 0) if devices is not None else None,
        nvme_gb=_number(row["nvme_gb"]),
        efa_interfaces=_number(row["efa_interfaces"]),
    )


def architecture(kind: str) -> str:
    """Return ``x86_64`` or ``arm64``; empty if it is unknown."""
    facts = table("instances")
    cells = _instance_cells(facts, kind)
    return cells[facts.columns.index("arch")] if cells else ""


@cache
def known_types() -> tuple[str, ...]:
    """Return every instance type of the table."""
    return tuple(line.partition(",")[0] for line in table("instances").lines)


def lacks(region: str, kind: str) -> bool:
    """Return whether EC2 certainly did not offer a type in a region on the date of the table.

    What EC2 lacks, SageMaker lacks too; it may lack more.
    """
    if instance(kind) is None:
        return False
    without = _instance_cells(table("ec2_not_offered"), kind)
    return without is not None and region in without[1].split(" ")


def _instance_cells(facts: Table, first: str) -> list[str] | None:
    """Return the cells of the row of a type. They contain no quotes, so a job need not import the csv module."""
    beginning = f"{first},"
    return next((line.split(",") for line in facts.lines if line.startswith(beginning)), None)


def _number(cell: str) -> int | None:
    return int(cell) if cell else None


@cache
def instance_bandwidth(kind: str) -> InstanceBandwidth | None:
    """Return the bandwidth of a type such as ``ml.g5.xlarge``; None if EC2 does not say it."""
    for row in table("instance_bandwidth").rows(kind):
        cells = [row[name] for name in ("network_baseline_gbps", "network_peak_gbps")]
        volumes = [row[name] for name in ("ebs_baseline_mbps", "ebs_peak_mbps")]
        if all((*cells, *volumes)):
            low, high = (float(cell) * _GIGABIT for cell in cells)
            slow, fast = (float(cell) * _MEGABIT for cell in volumes)
            return InstanceBandwidth(
                network=Bandwidth(baseline=low, peak=high), volumes=Bandwidth(baseline=slow, peak=fast)
            )
    return None
