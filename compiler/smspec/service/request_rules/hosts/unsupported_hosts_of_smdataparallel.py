"""SageMaker's data parallelism library runs on instances with eight GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.launcher_settings import launched_instances, uses_data_parallel
from smspec.service.request import Request

RULE = Rule("SM491", "unsupported hosts of smdataparallel", evidence="devguide")

GPUS = 8


def check(request: Request) -> Iterator[Finding]:
    """Reject instances with Neuron cores, or with any other number of GPUs than eight."""
    if not uses_data_parallel(request):
        return
    for host in launched_instances(request):
        if host.facts.gpus is not None and host.facts.gpus != GPUS:
            yield RULE.at(
                host.path,
                f"{HERE} is `{host.kind}`, but `smdataparallel` requires {GPUS} GPUs",
                help="use `ml.p4d.24xlarge` or `ml.p4de.24xlarge`, or a different launcher, such as `torchrun`",
            )
