"""Not every launcher that a toolkit of others has is one of ours."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, ParameterServer, SmDataParallel
from smspec.spec.starter import starter

RULE = Rule("SM326", "launcher that the runtime lacks")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Refuse a launcher that our runtime would refuse when the hosts are already paid for."""
    if starter(job) != "runtime":
        return
    match job.distribution:
        case ParameterServer():
            name = "parameter_server"
        case SmDataParallel():
            name = "smdataparallel"
        case _:
            return
    yield RULE.at(
        ("distribution",),
        f"our runtime, which starts this job, has no launcher `{name}`",
        help="use `torchrun` or `mpi`, or a ready image whose own toolkit has it, with `delivery: s3`",
        on="key",
    )
