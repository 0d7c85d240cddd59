"""The processes that a launcher starts on the instances of the job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.service.facts.instances import InstanceFacts
from smspec.service.member_names import member
from smspec.service.request import Request
from smspec.service.runtime_settings import (
    documented_launcher,
    launched_instances,
    processes_per_host,
    pytorch_version,
    uses_data_parallel,
)

MORE_PROCESSES_THAN_DEVICES = Rule("SM389", "more processes than devices", "warning", evidence="third-party")


def more_processes_than_devices(request: Request) -> Iterator[Finding]:
    """Warn about more processes on a host than it has GPUs or Neuron cores, or without those, vCPUs.

    A process without a GPU or a Neuron core of its own fails, or waits for that of another.
    """
    launched = processes_per_host(request)
    if launched is None:
        return
    path, processes = launched
    for host in launched_instances(request):
        limit = _devices(host.facts)
        if limit is None or processes <= limit[0]:
            continue
        count, device = limit
        word = "`processes_per_host`" if path[-1] == "processes_per_host" else member(path)
        yield MORE_PROCESSES_THAN_DEVICES.at(
            path,
            f"{word} is {processes:,}, but `{host.kind}` has {count:,} {device}{'' if count == 1 else 's'}",
            help=f"set it to {count} or less" + (", or remove it: the default is one per device" if count > 1 else ""),
        )
        return


def _devices(facts: InstanceFacts) -> tuple[int, str] | None:
    """Return how many processes the instances have devices for; None if that is unknown."""
    if facts.gpus:
        return facts.gpus, "GPU"
    if facts.neuron_cores:
        return facts.neuron_cores, "Neuron core"
    if facts.gpus is None or facts.neuron_cores is None or facts.vcpus is None:
        return None
    return facts.vcpus, "vCPU"


UNSUPPORTED_HOSTS_OF_SMDATAPARALLEL = Rule("SM491", "unsupported hosts of smdataparallel", evidence="devguide")

_GPUS = 8


def unsupported_hosts_of_smdataparallel(request: Request) -> Iterator[Finding]:
    """Reject instances with Neuron cores, or with any other number of GPUs than eight.

    SageMaker's data parallelism library runs on instances with eight GPUs.
    """
    if not uses_data_parallel(request):
        return
    for host in launched_instances(request):
        if host.facts.gpus is not None and host.facts.gpus != _GPUS:
            yield UNSUPPORTED_HOSTS_OF_SMDATAPARALLEL.at(
                host.path,
                f"{HERE} is `{host.kind}`, but `smdataparallel` requires {_GPUS} GPUs",
                help="use `ml.p4d.24xlarge` or `ml.p4de.24xlarge`, or a different launcher, such as `torchrun`",
            )


SMDATAPARALLEL_OUTSIDE_ITS_DOCUMENTATION = Rule(
    "SM390", "smdataparallel outside its documentation", "warning", evidence="devguide"
)


def smdataparallel_outside_its_documentation(request: Request) -> Iterator[Finding]:
    """Warn about other instances with eight GPUs, and about newer images of PyTorch.

    SageMaker's data parallelism library is documented for few instance types, and up to one version of PyTorch.
    """
    if not uses_data_parallel(request):
        return
    documented = documented_launcher("smdataparallel")
    for host in launched_instances(request):
        if host.facts.gpus == _GPUS and host.kind not in documented.types:
            yield SMDATAPARALLEL_OUTSIDE_ITS_DOCUMENTATION.at(
                host.path,
                f"{HERE}: `smdataparallel` might not support `{host.kind}`",
                help="use `ml.p4d.24xlarge` or `ml.p4de.24xlarge`, or a different launcher, such as `torchrun`",
                notes=(Note(f"the developer guide does not list this type, {documented.as_of}"),),
            )
    version = pytorch_version(request.image)
    last = ".".join(map(str, documented.last_version))
    if version is not None and version > documented.last_version:
        yield SMDATAPARALLEL_OUTSIDE_ITS_DOCUMENTATION.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"{HERE}: the last PyTorch with `smdataparallel` is {last}, {documented.as_of}",
            help=f"use a different launcher, such as `torchrun`, or an image of PyTorch {last} or earlier",
        )


RULES = {
    more_processes_than_devices: (),
    smdataparallel_outside_its_documentation: (),
    unsupported_hosts_of_smdataparallel: (),
}
