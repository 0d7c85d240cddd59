"""The debugger and the profiler."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import did_you_mean
from smspec.service.instance_types import TRAINIUM, family
from smspec.service.patterns import shown
from smspec.service.request import LISTS_OF_RULES, Request
from smspec.service.shapes import items, member, number, repeated, structure

DEBUG_RULES_WITHOUT_A_HOOK = Rule("SM366", "debugger rules without a hook", "warning", evidence="inferred")


def debug_rules_without_a_hook(request: Request) -> Iterator[Finding]:
    """Warn about DebugRuleConfigurations without DebugHookConfig, which a serverless job cannot have.

    Rules of the debugger check what its hook saved.
    """
    yield from _without(
        request,
        DEBUG_RULES_WITHOUT_A_HOOK,
        "DebugRuleConfigurations",
        "DebugHookConfig",
        "with an S3 URI for the tensors",
    )


def _without(request: Request, rule: Rule, rules: str, needed: str, having: str) -> Iterator[Finding]:
    if items(request.payload, rules) and needed not in request.payload and not request.is_serverless:
        yield rule.at((rules,), f"`{rules}` is set, but `{needed}` is not", help=f"add `{needed}` {having}", on="key")


PROFILER_IN_CHINA = Rule("SM475", "profiler in a region of China", evidence="service-message")


def profiler_in_china(request: Request) -> Iterator[Finding]:
    """Reject ProfilerConfig in the regions cn-*. Without a region, use the partition of the role.

    SageMaker's profiler is not available in every region.
    """
    if "ProfilerConfig" not in request.payload:
        return
    region, role = request.region, request.role
    if region.startswith("cn-") if region else role is not None and role.partition == "aws-cn":
        yield PROFILER_IN_CHINA.at(
            ("ProfilerConfig",),
            f"{HERE} is not supported in {f'`{shown(region)}`' if region else 'the regions of China'}",
            help="remove the member",
            on="key",
        )


PROFILER_ON_TRAINIUM = Rule("SM368", "profiler on Trainium", "warning", evidence="third-party")


def profiler_on_trainium(request: Request) -> Iterator[Finding]:
    """Warn about an enabled profiler where the instances have Trainium chips.

    SageMaker's profiler supports CPUs and GPUs.
    """
    profiler = request.payload.get("ProfilerConfig")
    if not isinstance(profiler, dict) or profiler.get("DisableProfiler") is True:
        return
    for _, kind in request.instance_types:
        if family(kind) in TRAINIUM:
            yield PROFILER_ON_TRAINIUM.at(
                ("ProfilerConfig",),
                f"`ProfilerConfig` is set, but the profiler does not support `{shown(kind)}`",
                help="remove it, or set `DisableProfiler: true`",
                on="key",
            )
            return


PROFILER_RULES_WITH_THE_PROFILER_OFF = Rule(
    "SM365", "profiler rules with the profiler off", "warning", evidence="inferred"
)


def profiler_rules_with_the_profiler_off(request: Request) -> Iterator[Finding]:
    """Warn about ProfilerRuleConfigurations together with DisableProfiler.

    Rules of the profiler check what the profiler wrote.
    """
    is_off = structure(request.payload, "ProfilerConfig").get("DisableProfiler") is True
    if is_off and items(request.payload, "ProfilerRuleConfigurations"):
        yield PROFILER_RULES_WITH_THE_PROFILER_OFF.at(
            ("ProfilerRuleConfigurations",),
            "`ProfilerRuleConfigurations` has no effect: `DisableProfiler` is true",
            help="remove the rules, or `DisableProfiler`",
            on="key",
        )


PROFILER_RULES_WITHOUT_A_PROFILER = Rule("SM367", "profiler rules without a profiler", "warning", evidence="inferred")


def profiler_rules_without_a_profiler(request: Request) -> Iterator[Finding]:
    """Warn about ProfilerRuleConfigurations without ProfilerConfig, which a serverless job cannot have.

    Rules of the profiler check what the profiler wrote.
    """
    having = "with an S3 URI for the output"
    yield from _without(
        request, PROFILER_RULES_WITHOUT_A_PROFILER, "ProfilerRuleConfigurations", "ProfilerConfig", having
    )


DUPLICATE_COLLECTION = Rule("SM473", "duplicate collection", evidence="api-doc")


def duplicate_collection(request: Request) -> Iterator[Finding]:
    """Reject two collections with one name.

    A collection of tensors has one configuration.
    """
    here = ("DebugHookConfig", "CollectionConfigurations")
    for index, name in repeated(items(request.payload, *here), "CollectionName"):
        yield DUPLICATE_COLLECTION.at(
            (*here, index, "CollectionName"), f"duplicate collection `{shown(name)}`", help="merge the two collections"
        )


DUPLICATE_RULE_CONFIGURATION = Rule("SM472", "duplicate rule configuration", evidence="api-doc")


def duplicate_rule_configuration(request: Request) -> Iterator[Finding]:
    """Reject two rules with one name, of the debugger or of the profiler.

    Results of rules are stored under their names.
    """
    earlier: set[str] = set()
    for list_name in LISTS_OF_RULES:
        for index, rule in enumerate(items(request.payload, list_name)):
            name = member(rule, "RuleConfigurationName")
            if isinstance(name, str):
                if name in earlier:
                    yield DUPLICATE_RULE_CONFIGURATION.at(
                        (list_name, index, "RuleConfigurationName"),
                        f"duplicate rule configuration `{shown(name)}`",
                        help="rename one; rules of the debugger and the profiler share one namespace",
                    )
                earlier.add(name)


MANY_DEBUGGER_RULES = Rule("SM416", "many debugger rules", "note", evidence="third-party")

_SMALL_QUOTA = 4
"""Processing instances: the quota in the service message of a rejected job."""


def many_debugger_rules(request: Request) -> Iterator[Finding]:
    """Note how many processing instances the rules need: SageMaker rejects a job with more than the quota allows.

    Each rule of the debugger and of the profiler runs as a processing job, which has a quota.
    """
    counts = {name: len(items(request.payload, name)) for name in LISTS_OF_RULES}
    total = sum(counts.values())
    if total > _SMALL_QUOTA and not request.is_serverless:
        first = next(name for name in LISTS_OF_RULES if counts[name])
        yield MANY_DEBUGGER_RULES.at(
            (first,),
            f"`{first}`: {total} rules need {total} processing instances; quota not checked",
            help="check the quotas of processing jobs in the account, or remove rules",
            on="key",
        )


UNKNOWN_PROFILING_PARAMETER = Rule("SM364", "unknown profiling parameter", "warning", evidence="api-doc")

# The documentation spells the second one DataLoader…; AWS's samples and SDK spell it Dataloader….
_PROFILING_PARAMETERS = (
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


def unknown_profiling_parameter(request: Request) -> Iterator[Finding]:
    """Warn about keys that are neither in the API documentation nor in SageMaker's own SDK.

    Only some parameters of the profiler are documented.
    """
    for name in structure(request.payload, "ProfilerConfig", "ProfilingParameters"):
        if name not in _PROFILING_PARAMETERS:
            yield UNKNOWN_PROFILING_PARAMETER.at(
                ("ProfilerConfig", "ProfilingParameters", name),
                f"unknown profiling parameter `{shown(name)}`",
                label=did_you_mean(name, _PROFILING_PARAMETERS),
                help="remove it, or fix its name; unknown parameters have no effect",
                on="key",
            )


UNSUPPORTED_PROFILING_INTERVAL = Rule("SM474", "unsupported profiling interval", evidence="api-doc")

_INTERVALS = (100, 200, 500, 1_000, 5_000, 60_000)


def unsupported_profiling_interval(request: Request) -> Iterator[Finding]:
    """Reject any other ProfilingIntervalInMilliseconds.

    The profiler supports six intervals.
    """
    interval = number(request.payload, "ProfilerConfig", "ProfilingIntervalInMilliseconds")
    if interval is not None and interval not in _INTERVALS:
        *most, last = (f"{known:,}" for known in _INTERVALS)
        yield UNSUPPORTED_PROFILING_INTERVAL.at(
            ("ProfilerConfig", "ProfilingIntervalInMilliseconds"),
            f"{HERE} is {interval:,}, which is not a supported interval",
            help=f"use {', '.join(most)}, or {last} ms; the default is 500",
        )


RULES = {
    debug_rules_without_a_hook: ("DebugRuleConfigurations",),
    profiler_in_china: ("ProfilerConfig",),
    profiler_on_trainium: ("ProfilerConfig",),
    profiler_rules_with_the_profiler_off: ("ProfilerRuleConfigurations",),
    profiler_rules_without_a_profiler: ("ProfilerRuleConfigurations",),
    duplicate_collection: ("DebugHookConfig",),
    duplicate_rule_configuration: ("DebugRuleConfigurations", "ProfilerRuleConfigurations"),
    many_debugger_rules: ("DebugRuleConfigurations", "ProfilerRuleConfigurations"),
    unknown_profiling_parameter: ("ProfilerConfig",),
    unsupported_profiling_interval: ("ProfilerConfig",),
}
