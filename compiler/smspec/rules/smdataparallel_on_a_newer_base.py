"""SageMaker's data parallelism library is documented up to one version of PyTorch, in a base image too."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, JobSpec, SmDataParallel

RULE = Rule("SM418", "smdataparallel on a newer base", "warning", evidence="devguide")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about a base image of AWS with a version of PyTorch that the library does not support."""
    if not isinstance(job.image, BuiltImage) or not isinstance(job.distribution, SmDataParallel):
        return
    # Imported late: few jobs use this launcher.
    from smspec.service.facts.launchers import documented_launcher
    from smspec.service.image_reference import parsed_reference
    from smspec.service.pytorch_image import pytorch_version

    version = pytorch_version(parsed_reference(job.image.base))
    documented = documented_launcher("smdataparallel")
    if version is not None and version > documented.last_version:
        last = ".".join(map(str, documented.last_version))
        yield RULE.at(
            ("image", "base"),
            f"{HERE}: the last PyTorch with `smdataparallel` is {last}, {documented.as_of}",
            help=f"use a different launcher, such as `torchrun`, or a base with PyTorch {last} or earlier",
        )
