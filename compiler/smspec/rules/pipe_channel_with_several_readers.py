"""A FIFO hands each byte to one reader: processes that share one get a random part each, and records torn in two."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, Mpi, PipeLoopEntry, SmDataParallel, Torchrun

RULE = Rule("SM377", "Pipe channel with several readers", "warning")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn of a Pipe channel where a launcher starts several processes on a host."""
    readers = _readers(job)
    if not readers or isinstance(job.entry_point, PipeLoopEntry):
        return  # a pipe loop is refused beside any launcher
    for channel in job.channels:
        if job.mode_of(channel) == "Pipe":
            own = ("channels", channel.name, "input_mode") if channel.input_mode else ("input_mode",)
            yield RULE.at(
                own,
                f"{readers} on each host might share the FIFO of channel `{channel.name}`: `input_mode` is `Pipe`",
                help="use `input_mode: FastFile`, or start one process per host",
            )


def _readers(job: JobSpec) -> str:
    """Return who reads on a host, if there may be several."""
    launcher = job.distribution
    if isinstance(launcher, Torchrun | Mpi):
        count = launcher.processes_per_host
        # As many as the host has GPUs; without one it is one process.
        return "" if count == 1 else "the processes" if count == "auto" else f"{count} processes"
    return "the processes" if isinstance(launcher, SmDataParallel) else ""
