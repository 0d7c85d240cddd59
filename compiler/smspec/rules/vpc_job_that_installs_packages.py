"""Without a NAT gateway or an endpoint, a job in a VPC has no route to PyPI, where pip looks for requirements."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.source.listing import Listing
from smspec.spec.isolation import unrouted_path
from smspec.spec.model import JobSpec
from smspec.spec.startup_requirements import NAME, startup_requirements

RULE = Rule("SM537", "VPC job that installs packages", "warning")


def check(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Warn about requirements that are installed at startup in a VPC, without a package index of its own."""
    path = unrouted_path(job)
    if path is None or startup_requirements(job, source) is None:
        return
    yield RULE.at(
        path,
        f"`{NAME}` needs an index at startup, but `network.subnets` might not reach PyPI",
        help="set `PIP_INDEX_URL` in `environment` to an index in the VPC, or ignore SM537 if it has a NAT gateway",
        notes=(Note("without a route, pip waits and retries, and the job fails at startup"),),
    )
