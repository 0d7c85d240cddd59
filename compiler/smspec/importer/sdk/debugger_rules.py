"""The rules of Debugger and of its profiler as the SDK sends them (smdebug-rulesconfig 1.0.1, Apache-2.0)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.sdk_request import put
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, SdkUnknown, Value
from smspec.importer.sdk.variables import NotResolved, Variables
from smspec.source.frozen import dataclass

NOT_KNOWN = "its collections are known only when the program runs"

IMAGE_VARIABLE = "debugger_image"
"""Stands for the image of built-in rules: each region has it in another account."""

_RULES = (
    *("all_zero", "check_input_images", "class_imbalance", "confusion", "create_xgboost_report", "dead_relu"),
    *("exploding_tensor", "feature_importance_overweight", "loss_not_decreasing", "nlp_sequence_ratio", "overfit"),
    *("overtraining", "poor_weight_initialization", "saturated_activation", "similar_across_runs"),
    *("stalled_training_rule", "tensor_variance", "tree_depth", "unchanged_tensor", "vanishing_gradient"),
    *("weight_update_ratio",),
)
_NAMES = {"nlp_sequence_ratio": "NLPSequenceRatio"}
_OFTEN, _SELDOM = {"save_interval": "5"}, {"save_interval": "500"}
_COLLECTIONS: dict[str, dict[str, dict[str, str]]] = {
    "check_input_images": {"input_image": {"include_regex": ".*hybridsequential0_input_0", **_SELDOM}},
    "create_xgboost_report": {
        "metrics": _OFTEN,
        "feature_importance": _OFTEN,
        "hyperparameters": {"save_steps": "0"},
        "predictions": _OFTEN,
        "labels": _OFTEN,
    },
    "dead_relu": {"relu_output": {"include_regex": ".*relu_output", **_SELDOM}},
    "feature_importance_overweight": {"feature_importance": _SELDOM},
    "loss_not_decreasing": {"losses": _SELDOM},
    "nlp_sequence_ratio": {"input_sequence": {"include_regex": ".*embedding0_input_0", **_SELDOM}},
    "poor_weight_initialization": {"relu_input": {"include_regex": ".*relu_input", **_SELDOM}},
    "vanishing_gradient": {"gradients": _SELDOM},
    "weight_update_ratio": {"weights": _SELDOM},
}
_SCAN: dict[str, object] = {"scan_interval_us": 60_000_000}
_PROFILER_RULES: dict[str, dict[str, object]] = {
    "BatchSize": {
        "cpu_threshold_p95": 70,
        "gpu_threshold_p95": 70,
        "gpu_memory_threshold_p95": 70,
        "patience": 1000,
        "window": 500,
        **_SCAN,
    },
    "CPUBottleneck": {"threshold": 50, "gpu_threshold": 10, "cpu_threshold": 90, "patience": 1000, **_SCAN},
    "GPUMemoryIncrease": {"increase": 5, "patience": 1000, "window": 10, **_SCAN},
    "IOBottleneck": {"threshold": 50, "gpu_threshold": 10, "io_threshold": 50, "patience": 1000, **_SCAN},
    "LoadBalancing": {"threshold": 0.5, "patience": 1000, **_SCAN},
    "LowGPUUtilization": {"threshold_p95": 70, "threshold_p5": 10, "window": 500, "patience": 1000, **_SCAN},
    "MaxInitializationTime": {"threshold": 20, **_SCAN},
    "OverallSystemUsage": _SCAN,
    "ProfilerReport": {},
    "StepOutlier": {"stddev": 3, "mode": None, "n_outliers": 10, **_SCAN},
}
_MEMBERS = {
    "image_uri": "RuleEvaluatorImage",
    "instance_type": "InstanceType",
    "volume_size_in_gb": "VolumeSizeInGB",
    "container_local_output_path": "LocalPath",
    "s3_output_path": "S3OutputPath",
}


def collections(configs: Value, variables: Variables) -> list[object]:
    """Return CollectionConfigurations; raise `NotResolved` if they are not known."""
    if configs is None:
        return []
    if not isinstance(configs, SdkItems) or not configs.is_known:
        raise NotResolved(NOT_KNOWN)
    found: list[object] = []
    for config in configs.values:
        given = arguments_of(config) if isinstance(config, SdkInstance) and config.is_known else {}
        if "name" not in given or not given.keys() <= {"name", "parameters"}:
            raise NotResolved(NOT_KNOWN)
        item = {"CollectionName": variables.json(given["name"], "name")}
        if given.get("parameters") is not None:
            item["CollectionParameters"] = variables.json(given["parameters"], "parameters")
        found.append(item)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Items of DebugRuleConfigurations and of ProfilerRuleConfigurations, and the collections of the former."""

    debugger: list[object]
    profiler: list[object]
    collections: list[object]


def rules(listed: Value, variables: Variables) -> Rules:
    """Return the rules of an estimator; raise `NotResolved` if one is not known."""
    found = Rules(debugger=[], profiler=[], collections=[])
    if listed is None:
        return found
    if not isinstance(listed, SdkItems) or not listed.is_known:
        raise NotResolved("its rules are known only when the program runs")
    image = SdkUnknown(IMAGE_VARIABLE, is_text=True)
    for rule in listed.values:
        kind, _, made_by = (rule.kind if isinstance(rule, SdkInstance) else "").rpartition(".")
        if not isinstance(rule, SdkInstance) or not rule.is_known or made_by not in ("sagemaker", "custom"):
            raise NotResolved("a rule is known only when the program runs")
        given = arguments_of(rule)
        if given.get("actions") is not None:
            raise NotResolved("actions of a rule contain the name of the job")
        if kind.endswith(".ProfilerRule"):
            found.profiler.append(_profiler_rule(made_by, given, image, variables))
        else:
            found.debugger.append(_debugger_rule(made_by, given, image, variables))
            found.collections.extend(_collections(made_by, given, variables))
    return found


def _base(given: dict[str, Value]) -> tuple[str, dict[str, Value]]:
    base = given.get("base_config")
    if not isinstance(base, SdkInstance) or not base.is_known or base.positional:
        raise NotResolved("a rule is not one of `rule_configs`")
    return base.kind.rpartition(".")[2], base.arguments


def _debugger_rule(made_by: str, given: dict[str, Value], image: Value, variables: Variables) -> dict[str, object]:
    if made_by == "custom":
        return _rule(given.get("name"), _parameters(given, variables), given, variables)
    name, arguments = _base(given)
    if name not in _RULES or arguments:
        raise NotResolved(f"`{name}` with these arguments is not a known rule")
    usual = _NAMES.get(name) or "".join(word.capitalize() for word in name.split("_"))
    parameters = {"rule_to_invoke": usual, **_parameters(given, variables)}
    return _rule(given.get("name", usual), parameters, {**_placed(given), "image_uri": image}, variables)


def _profiler_rule(made_by: str, given: dict[str, Value], image: Value, variables: Variables) -> dict[str, object]:
    if made_by == "custom":
        parameters = _parameters(given, variables)
        return _rule(given.get("name"), {key: str(value) for key, value in parameters.items()}, given, variables)
    name, arguments = _base(given)
    if name not in _PROFILER_RULES or not arguments.keys() <= _PROFILER_RULES[name].keys():
        raise NotResolved(f"`{name}` with these arguments is not a known rule")
    own = {key: variables.json(value, key) for key, value in arguments.items()}
    parameters = {**_PROFILER_RULES[name], **own, "rule_to_invoke": name}
    sent = {key: str(value) for key, value in parameters.items()}
    return _rule(given.get("name", name), sent, {**_placed(given), "image_uri": image}, variables)


def _placed(given: dict[str, Value]) -> dict[str, Value]:
    """Return the members that a built-in rule may have: it has no instance of its own."""
    return {name: given[name] for name in ("container_local_output_path", "s3_output_path") if name in given}


def _rule(
    name: Value, parameters: Mapping[str, object], given: dict[str, Value], variables: Variables
) -> dict[str, object]:
    rule: dict[str, object] = {"RuleConfigurationName": variables.json(name, "name")}
    for argument, member in _MEMBERS.items():
        value = given.get(argument)
        if value is not None:
            is_built_in = isinstance(value, SdkUnknown) and value.name == IMAGE_VARIABLE
            put(rule, (member,), variables.json(value, IMAGE_VARIABLE if is_built_in else argument))
    if parameters:
        rule["RuleParameters"] = dict(parameters)
    return rule


def _parameters(given: dict[str, Value], variables: Variables) -> dict[str, object]:
    if given.get("other_trials_s3_input_paths") is not None:
        raise NotResolved("a rule reads other trials")
    source = variables.json(given.get("source"), "uri")
    if source is not None and not (isinstance(source, str) and source.startswith("s3://")):
        raise NotResolved("the SDK uploads the source of a custom rule; put it to S3, and add the rule to `api`")
    found: dict[str, object] = {"source_s3_uri": source} if source is not None else {}
    if given.get("rule_to_invoke") is not None:
        found["rule_to_invoke"] = variables.json(given["rule_to_invoke"], "rule_to_invoke")
    own = given.get("rule_parameters")
    if own is not None and not isinstance(own, Entries):
        raise NotResolved("parameters of a rule are known only when the program runs")
    listed = variables.json(own, "rule_parameters") if own is not None else {}
    return {**found, **(listed if isinstance(listed, dict) else {})}


def _collections(made_by: str, given: dict[str, Value], variables: Variables) -> list[object]:
    own = collections(given.get("collections_to_save"), variables)
    if own or made_by == "custom":
        return own
    usual = _COLLECTIONS.get(_base(given)[0], {})
    return [{"CollectionName": name, "CollectionParameters": dict(values)} for name, values in usual.items()]


def without_repeats(items: list[object]) -> list[object]:
    """Return collections, each once, in the order of their first use."""
    return list({json.dumps(item, sort_keys=True): item for item in items}.values())
