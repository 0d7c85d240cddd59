"""The settings of the profiler as the SDK sends them."""

from __future__ import annotations

from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.values import Instance, Value
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
    if not isinstance(config, Instance) or not config.is_known or not arguments_of(config).keys() <= set(names):
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
