"""Rules about a whole request whose members have their shapes: one file a rule, named after the bad thing.

They are kept by the part of the request that they look at. `AREAS` says which members wake which part: most requests
have neither a debugger nor a serverless job, and do not pay for reading those rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from smspec.diagnostics import Finding
from smspec.service.request import Request

AREAS: dict[str, tuple[str, ...]] = {
    "presence": (),
    "algorithm": ("AlgorithmSpecification",),
    "channels": ("InputDataConfig",),
    "storage": (),
    "hosts": ("ResourceConfig",),
    "stopping": (),
    "network": (
        "VpcConfig",
        "EnableNetworkIsolation",
        "EnableInterContainerTrafficEncryption",
        "RemoteDebugConfig",
    ),
    "debugging": ("DebugHookConfig", "DebugRuleConfigurations", "ProfilerConfig", "ProfilerRuleConfigurations"),
    "serverless": ("ServerlessJobConfig", "ModelPackageConfig"),
    "names": ("Tags", "Environment", "ExperimentConfig"),
    "regions": (),
    "secrets": ("HyperParameters", "Environment", "Tags", "AlgorithmSpecification"),
}
"""Package → the members of which a request must have one for its rules to find anything; none: always."""


def rule_findings(request: Request) -> Iterator[Finding]:
    """Yield everything that the rules have to say of a request, at paths of the request."""
    for area, members in AREAS.items():
        if not members or not request.payload.keys().isdisjoint(members):
            for check in import_module(f"{__name__}.{area}").RULES:
                yield from check(request)
