"""What the SDK sends for its debugger and profiler, also where the program says nothing of them."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.importer.imported import NotImported
from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.debugger_rules import NOT_KNOWN, Rules, collections, rules, without_repeats
from smspec.importer.sdk.values import Entries, SdkInstance, Value
from smspec.importer.sdk.variables import NotResolved, Variables

_TRACES: dict[str, tuple[str, object]] = {
    "local_path": ("LocalPath", "/opt/ml/output/profiler"),
    "file_max_size": ("RotateMaxFileSizeInBytes", 10_485_760),
    "file_close_interval": ("RotateFileCloseIntervalInSeconds", 60),
    "file_open_fail_threshold": ("FileOpenFailThreshold", 50),
}
_METRICS = {
    "detailed_profiling_config": ("DetailedProfilingConfig", 5, 1),
    "dataloader_profiling_config": ("DataloaderProfilingConfig", 7, 1),
    "python_profiling_config": ("PythonProfilingConfig", 9, 3),
    "horovod_profiling_config": ("HorovodProfilingConfig", 13, 1),
    "smdataparallel_profiling_config": ("SMDataParallelProfilingConfig", 15, 1),
}
"""Argument → its class, and the first step and the number of steps without arguments."""

_RANGE = ("start_step", "num_steps", "start_unix_time", "duration")
_NOT_KNOWN = "its settings are known only when the program runs"

Found = tuple[dict[str, object], list[NotImported], list[str]]


def debugging(given: Mapping[str, Value], output: object, variables: Variables, *, hook_is_off: bool) -> Found:
    """Return members of the request, what is not imported, and what the SDK adds by itself."""
    request: dict[str, object] = {}
    lost: list[NotImported] = []
    added: list[str] = []
    found = Rules(debugger=[], profiler=[], collections=[])
    try:
        found = rules(given["rules"], variables)
    except NotResolved as why:
        lost.append(NotImported(("rules",), f"{why}; add the members to `api`"))
    for member, listed in (
        ("DebugRuleConfigurations", found.debugger),
        ("ProfilerRuleConfigurations", found.profiler),
    ):
        if listed:
            request[member] = listed
    hook = given["debugger_hook_config"]
    if not hook_is_off and hook is not False:
        if hook is None or (isinstance(hook, Entries) and not hook.values):
            request["DebugHookConfig"] = {
                "S3OutputPath": output,
                "CollectionConfigurations": without_repeats(found.collections),
            }
            added.append("`DebugHookConfig`")
        else:
            _hook(hook, output, found.collections, variables, request, lost)
    profiler = given["profiler_config"]
    if given["disable_profiler"] is True:
        request["ProfilerConfig"] = {"DisableProfiler": True}
    elif profiler is None:
        request["ProfilerConfig"] = {"S3OutputPath": output, "DisableProfiler": False}
        added.append("`ProfilerConfig`")
    else:
        try:
            request["ProfilerConfig"] = profiler_config(profiler, output, variables)
        except NotResolved as why:
            lost.append(NotImported(("profiler_config",), f"{why}; add the members to `api`"))
    _tensorboard(given["tensorboard_output_config"], variables, request, lost)
    return request, lost, added


def _hook(
    hook: Value,
    output: object,
    of_rules: list[object],
    variables: Variables,
    request: dict[str, object],
    lost: list[NotImported],
) -> None:
    names = {"s3_output_path": "S3OutputPath", "container_local_output_path": "LocalPath"}
    names["hook_parameters"] = "HookParameters"
    given = arguments_of(hook) if isinstance(hook, SdkInstance) and hook.is_known else {"": None}
    try:
        listed = without_repeats([*of_rules, *collections(given.pop("collection_configs", None), variables)])
        if not given.keys() <= names.keys():
            raise NotResolved(NOT_KNOWN)
        members = {names[name]: variables.json(value, name) for name, value in given.items() if value is not None}
    except NotResolved as why:
        lost.append(NotImported(("debugger_hook_config",), str(why)))
        return
    request["DebugHookConfig"] = {"S3OutputPath": output, **members, "CollectionConfigurations": listed}


def _tensorboard(config: Value, variables: Variables, request: dict[str, object], lost: list[NotImported]) -> None:
    if config is None:
        return
    given = arguments_of(config) if isinstance(config, SdkInstance) and config.is_known else {}
    names = {"s3_output_path": "S3OutputPath", "container_local_output_path": "LocalPath"}
    try:
        if "s3_output_path" not in given or not given.keys() <= names.keys():
            raise NotResolved("its value is known only when the program runs")
        found = {names[name]: variables.json(value, "uri") for name, value in given.items() if value is not None}
    except NotResolved as why:
        lost.append(NotImported(("tensorboard_output_config",), str(why)))
        return
    request["TensorBoardOutputConfig"] = found


def profiler_config(config: Value, output: object, variables: Variables) -> dict[str, object]:
    """Return ProfilerConfig; raise `NotResolved` if it is not known."""
    names = ("s3_output_path", "system_monitor_interval_millis", "framework_profile_params", "disable_profiler")
    given = _given(config, (*names, "profile_params"))
    if given.get("profile_params") is not None:
        raise NotResolved("the SDK starts a processing job for a detailed profile")
    is_off = given.get("disable_profiler", False)
    found: dict[str, object] = {}
    if is_off is False:
        own = given.get("s3_output_path")
        found["S3OutputPath"] = output if own is None else variables.json(own, "uri")
    found["DisableProfiler"] = variables.json(is_off, "disable_profiler")
    if given.get("system_monitor_interval_millis") is not None:
        found["ProfilingIntervalInMilliseconds"] = variables.json(
            given["system_monitor_interval_millis"], "profiling_interval"
        )
    if given.get("framework_profile_params") is not None:
        found["ProfilingParameters"] = _framework(given["framework_profile_params"])
    return found


def _given(config: Value, names: tuple[str, ...]) -> dict[str, Value]:
    if not isinstance(config, SdkInstance) or not config.is_known or not arguments_of(config).keys() <= set(names):
        raise NotResolved(_NOT_KNOWN)
    return arguments_of(config)


def _framework(profile: Value) -> dict[str, object]:
    given = _given(profile, (*_TRACES, *_METRICS, *_RANGE))
    found = {member: str(_constant(given.get(name, usual))) for name, (member, usual) in _TRACES.items()}
    own = {name: given[name] for name in _METRICS if given.get(name) is not None}
    has_range = any(given.get(name) is not None for name in _RANGE)
    for name, (member, first, count) in _METRICS.items():
        if own:
            if name not in own:
                continue
            settings = _given(own[name], (*_RANGE, "profile_default_steps", "metrics_regex"))
            is_usual = settings.get("profile_default_steps") is True
        else:
            settings, is_usual = given, not has_range
        if is_usual or not any(settings.get(part) is not None for part in _RANGE):
            settings = {**settings, "start_step": first, "num_steps": count}
        found[member] = _metric(member, settings, is_usual=is_usual)
    return dict(found)


def _metric(member: str, given: dict[str, Value], *, is_usual: bool) -> str:
    """Return a metric's range in the form that the profiler of the container parses."""
    start, count = _constant(given.get("start_step")), _constant(given.get("num_steps"))
    parts = []
    if start is not None or count is not None:
        parts = [f'"StartStep": {start or 0}', f'"NumSteps": {count or 1}']
    else:
        times = {"StartTimeInSecSinceEpoch": "start_unix_time", "Duration": "duration"}
        parts = [f'"{key}": {_constant(given[name])}' for key, name in times.items() if given.get(name) is not None]
    if member == "DataloaderProfilingConfig":
        parts.append(f'"MetricsRegex": "{_constant(given.get("metrics_regex", ".*"))}"')
    if member == "PythonProfilingConfig":
        timer = "default" if is_usual else "total_time"
        parts += ['"ProfilerName": "cprofile"', f'"cProfileTimer": "{timer}"']
    return "{" + ", ".join(parts) + ", }"


def _constant(value: object) -> object:
    if isinstance(value, bool | int | float | str | None):
        return value
    raise NotResolved(_NOT_KNOWN)
