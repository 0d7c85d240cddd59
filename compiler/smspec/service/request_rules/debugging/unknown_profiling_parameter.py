"""Only some parameters of the profiler are documented."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM364", "unknown profiling parameter", "warning", evidence="api-doc")
# The documentation spells the second one DataLoader…; AWS's samples and SDK spell it Dataloader….
KNOWN = (
    "DetailedProfilingConfig",
    "DataLoaderProfilingConfig",
    "DataloaderProfilingConfig",
    "PythonProfilingConfig",
    "HorovodProfilingConfig",
    "SMDataParallelProfilingConfig",
    "LocalPath",
    "RotateMaxFileSizeInBytes",
    "RotateFileCloseIntervalInSeconds",
    "FileOpenFailThreshold",
)


def check(request: Request) -> Iterator[Finding]:
    """Warn about keys that are neither in the API documentation nor in SageMaker's own SDK."""
    for name in structure(request.payload, "ProfilerConfig", "ProfilingParameters"):
        if name not in KNOWN:
            near = nearest(name, KNOWN)
            yield RULE.at(
                ("ProfilerConfig", "ProfilingParameters", name),
                f"unknown profiling parameter `{shown(name)}`",
                label=f"did you mean `{near}`?" if near else "",
                help="remove it, or fix its name; unknown parameters have no effect",
                on="key",
            )
