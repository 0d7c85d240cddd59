"""SageMaker's data parallelism library is documented for few instance types, and up to one version of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.service.facts.launchers import documented_launcher
from smspec.service.launcher_settings import launched_instances, uses_data_parallel
from smspec.service.pytorch_image import pytorch_version
from smspec.service.request import Request
from smspec.service.request_rules.hosts.unsupported_hosts_of_smdataparallel import GPUS

RULE = Rule("SM390", "smdataparallel outside its documentation", "warning", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Warn about other instances with eight GPUs, and about newer images of PyTorch."""
    if not uses_data_parallel(request):
        return
    documented = documented_launcher("smdataparallel")
    for host in launched_instances(request):
        if host.facts.gpus == GPUS and host.kind not in documented.types:
            yield RULE.at(
                host.path,
                f"{HERE}: `smdataparallel` might not support `{host.kind}`",
                help="use `ml.p4d.24xlarge` or `ml.p4de.24xlarge`, or a different launcher, such as `torchrun`",
                notes=(Note(f"the developer guide does not list this type, {documented.as_of}"),),
            )
    version = pytorch_version(request.image)
    last = ".".join(map(str, documented.last_version))
    if version is not None and version > documented.last_version:
        yield RULE.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"{HERE}: the last PyTorch with `smdataparallel` is {last}, {documented.as_of}",
            help=f"use a different launcher, such as `torchrun`, or an image of PyTorch {last} or earlier",
        )
