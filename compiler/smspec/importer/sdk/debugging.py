"""What the SDK sends for its debugger and profiler, also where the program says nothing of them."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.importer.imported import NotImported
from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.collections import NOT_KNOWN, collections
from smspec.importer.sdk.debugger_rules import Rules, rules, without_repeats
from smspec.importer.sdk.profiling import profiler_config
from smspec.importer.sdk.values import Entries, Instance, Value
from smspec.importer.sdk.variables import NotResolved, Variables

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
    given = arguments_of(hook) if isinstance(hook, Instance) and hook.is_known else {"": None}
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
    given = arguments_of(config) if isinstance(config, Instance) and config.is_known else {}
    names = {"s3_output_path": "S3OutputPath", "container_local_output_path": "LocalPath"}
    try:
        if "s3_output_path" not in given or not given.keys() <= names.keys():
            raise NotResolved("its value is known only when the program runs")
        found = {names[name]: variables.json(value, "uri") for name, value in given.items() if value is not None}
    except NotResolved as why:
        lost.append(NotImported(("tensorboard_output_config",), str(why)))
        return
    request["TensorBoardOutputConfig"] = found
