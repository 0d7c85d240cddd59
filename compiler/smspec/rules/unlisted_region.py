"""A region whose name fits the rules of AWS, but that AWS does not list."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.partitions import is_listed, nearest_region, regions_table
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec

RULE = Rule("SM802", "unlisted region", "warning")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about a region that the table of partitions lacks: a new one, or a misspelled one."""
    if job.region is None or is_listed(job.region):
        return
    near = nearest_region(job.region)
    yield RULE.at(
        ("region",),
        f"{HERE} is `{job.region}`, which AWS does not list, {regions_table().as_of}",
        label=f"did you mean `{near}`?" if near else "",
        help="" if near else "use a region of AWS, such as `us-west-2`, or add SM802 to `checks.ignore` if it is new",
    )
