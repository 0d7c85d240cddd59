"""A container starts only on instances with the architecture of its image."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, JobSpec

RULE = Rule("SM388", "platform of a different architecture")

_DEFAULT = "linux/amd64"
_ARCHITECTURES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a platform that an instance type of the job does not have."""
    image = job.image
    # No instance type for training is known to need another platform than the default.
    if not isinstance(image, BuiltImage) or image.platform == _DEFAULT or job.hosts is None:
        return
    # Imported late: few jobs set a platform.
    from smspec.service.facts.instances import architecture

    built = _ARCHITECTURES.get([*image.platform.split("/"), ""][1], "")
    for kind in (job.hosts.instance_type, *(group.instance_type for group in job.hosts.groups)):
        has = architecture(kind) if kind else ""
        if built and has and built != has:
            yield RULE.at(
                ("image", "platform"),
                f"{HERE} is `{image.platform}`, but `{kind}` has the architecture {has}",
                help=f"remove it; the default is `{_DEFAULT}`" if has == "x86_64" else "use `linux/arm64`",
            )
            return
