"""Without a NAT gateway or an endpoint, a job in a VPC has no route to PyPI, where pip looks for requirements."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.source.listing import Listing
from smspec.spec.isolation import isolation_path
from smspec.spec.model import BuiltImage, JobSpec
from smspec.spec.startup_requirements import NAME, startup_requirements

RULE = Rule("SM537", "VPC job that installs packages", "warning")

_INDEXES = ("PIP_", "UV_", "CA_REPOSITORY_ARN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def check(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Warn about requirements that are installed at startup in a VPC, without a package index of its own."""
    if job.network is None or not job.network.subnets or isolation_path(job) is not None:
        return
    if startup_requirements(job, source) is None:
        return
    variables = [*(job.image.env if isinstance(job.image, BuiltImage) else ()), *job.environment, *job.secrets]
    if any(name.upper().startswith(_INDEXES) for name in variables):
        return
    yield RULE.at(
        ("network", "subnets"),
        f"`{NAME}` needs an index at startup, but `network.subnets` might not reach PyPI",
        help="set `PIP_INDEX_URL` in `environment` to an index in the VPC, or ignore SM537 if it has a NAT gateway",
        notes=(Note("without a route, pip waits and retries, and the job fails at startup"),),
    )
