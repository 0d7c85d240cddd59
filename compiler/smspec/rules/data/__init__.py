"""Rules about the local data of channels, which stands for the data in S3: one file per rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from smspec.diagnostics import Finding
from smspec.rules.data import data_larger_than_the_storage, fewer_objects_than_hosts
from smspec.source.data_extent import DataExtent
from smspec.spec.model import JobSpec

Extents = Mapping[str, DataExtent]
"""The name of a channel → the extent of its local data; without the channels whose extent is unknown."""

RULES: tuple[Callable[[JobSpec, Extents], Iterator[Finding]], ...] = (
    data_larger_than_the_storage.check,
    fewer_objects_than_hosts.check,
)


def data_findings(job: JobSpec, extents: Extents) -> list[Finding]:
    """Return where the local data of a job does not fit its hosts."""
    return [finding for rule in RULES for finding in rule(job, extents)]
