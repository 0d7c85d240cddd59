"""A process without a GPU or a Neuron core of its own fails, or waits for that of another."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.facts.instances import Instance
from smspec.service.launcher_settings import launched_instances, processes_per_host
from smspec.service.member_names import member
from smspec.service.request import Request

RULE = Rule("SM389", "more processes than devices", "warning", evidence="third-party")


def check(request: Request) -> Iterator[Finding]:
    """Warn about more processes on a host than it has GPUs or Neuron cores, or without those, vCPUs."""
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
        yield RULE.at(
            path,
            f"{word} is {processes:,}, but `{host.kind}` has {count:,} {device}{'' if count == 1 else 's'}",
            help=f"set it to {count} or less" + (", or remove it: the default is one per device" if count > 1 else ""),
        )
        return


def _devices(facts: Instance) -> tuple[int, str] | None:
    """Return how many processes the instances have devices for; None if that is unknown."""
    if facts.gpus:
        return facts.gpus, "GPU"
    if facts.neuron_cores:
        return facts.neuron_cores, "Neuron core"
    if facts.gpus is None or facts.neuron_cores is None or facts.vcpus is None:
        return None
    return facts.vcpus, "vCPU"
