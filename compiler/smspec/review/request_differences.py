"""The differences between two requests, in their smallest meaningful parts, and the meaning of each member.

The description of a job contains defaults that the service adds; a request need not.
"""

from __future__ import annotations

from collections.abc import Iterator

from smspec.service.shapes import items, structure
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.keys import rows_by_member
from smspec.spec.keys.row import NamedForm, ValueForm
from smspec_runtime.run_plan import SETTINGS_HYPERPARAMETER

_S3 = ("InputDataConfig", "*", "DataSource", "S3DataSource")

_NAMED_BY: dict[Path, str] = {
    ("InputDataConfig",): "ChannelName",
    ("AlgorithmSpecification", "MetricDefinitions"): "Name",
    ("ResourceConfig", "InstanceGroups"): "InstanceGroupName",
    ("Tags",): "Key",
    ("DebugRuleConfigurations",): "RuleConfigurationName",
    ("ProfilerRuleConfigurations",): "RuleConfigurationName",
}
"""Lists whose items have names: one that moved is the same one."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """``kinds``: the kinds of a change of the member; ``words``: its name in messages."""

    kinds: tuple[str, ...]
    words: str


def _of_keys() -> Iterator[tuple[Path, Meaning]]:
    """Yield the meanings in the table of keys; entries whose name a user chooses have the meaning of their key."""
    for path, rows in rows_by_member().items():
        row = rows[0]
        has_names = isinstance(row.form, NamedForm) or (isinstance(row.form, ValueForm) and row.form.shape == "map")
        if row.called:
            yield (*path, "*") if has_names else path, Meaning((row.kind,), row.called)


def _of_rules(name: str, called: str) -> dict[Path, Meaning]:
    """Return the meanings of a list of rules: each is a container with the role, on an instance of its own."""
    rule = (name, "*")
    return {
        (name,): Meaning(("security", "hosts"), called),
        (*rule, "RuleEvaluatorImage"): Meaning(("security",), f"image of a {called}"),
        (*rule, "InstanceType"): Meaning(("hosts",), f"instance of a {called}"),
        (*rule, "VolumeSizeInGB"): Meaning(("hosts",), f"volume of a {called}, GB"),
        (*rule, "RuleParameters"): Meaning(("other",), f"parameter of a {called}"),
        (*rule, "RuleParameters", "rule_to_invoke"): Meaning(("code",), f"code of a {called}"),
        (*rule, "RuleParameters", "source_s3_uri"): Meaning(("code",), f"code of a {called}"),
        (*rule, "LocalPath"): Meaning(("other",), f"directory of a {called}"),
        (*rule, "S3OutputPath"): Meaning(("output",), f"where a {called} writes"),
    }


MEMBERS: dict[Path, Meaning] = {
    **dict(_of_keys()),
    ("HyperParameters", "sagemaker_program"): Meaning(("code",), "program"),
    ("HyperParameters", "sagemaker_submit_directory"): Meaning(("code",), "archive of the code"),
    ("HyperParameters", "sagemaker_s3_output"): Meaning(("output",), "where the image's toolkit writes"),
    ("AlgorithmSpecification", "AlgorithmName"): Meaning(("image", "security"), "algorithm"),
    ("AlgorithmSpecification", "ContainerArguments"): Meaning(("security",), "container arguments"),
    ("AlgorithmSpecification", "TrainingImageConfig"): Meaning(("security",), "access to the image's registry"),
    ("InputDataConfig", "code"): Meaning(("code",), "channel of the code"),
    ("InputDataConfig", "smspec"): Meaning(("code",), "channel of the runtime and its entry point"),
    (*_S3, "HubAccessConfig"): Meaning(("security", "data"), "access to a hub"),
    (*_S3, "ModelAccessConfig"): Meaning(("security", "data"), "license of a model"),
    **_of_rules("DebugRuleConfigurations", "debugger rule"),
    **_of_rules("ProfilerRuleConfigurations", "profiler rule"),
    ("ServerlessJobConfig", "AcceptEula"): Meaning(("security", "data"), "license of a model"),
    ("ServerlessJobConfig", "BaseModelArn"): Meaning(("data",), "base model"),
    ("ServerlessJobConfig", "EvaluatorArn"): Meaning(("code",), "evaluator"),
    ("ModelPackageConfig", "SourceModelPackageArn"): Meaning(("data",), "source model package"),
    ("ModelPackageConfig", "ModelPackageGroupArn"): Meaning(("output",), "model package group"),
    ("MlflowConfig", "MlflowResourceArn"): Meaning(("output",), "MLflow server"),
    ("DebugHookConfig", "S3OutputPath"): Meaning(("output",), "where debugger data go"),
    ("ProfilerConfig", "S3OutputPath"): Meaning(("output",), "where profiler data go"),
    ("InfraCheckConfig",): Meaning(("hosts",), "check of the hosts"),
    ("RemoteDebugConfig",): Meaning(("security",), "remote debugging"),
    ("SessionChainingConfig",): Meaning(("security",), "session tags"),
}
"""Place in the request, ``*`` standing for a name → what it means; the longest match counts.

Members that a key makes have theirs in its row, `spec/keys/`; here are those that only `api`, or smspec itself, sends.
"""

_LAUNCHER = Meaning(("hosts",), "launcher")
_RUNTIME = Meaning(("code", "hosts", "data"), "settings of the smspec runtime")
_UNKNOWN = Meaning(("other",), "")


def meaning(at: Path) -> Meaning:
    """Return the meaning of a member: with its own name rather than ``*``, or of its nearest known parent."""
    if at[0] == "HyperParameters" and str(at[-1]).startswith("sagemaker_") and at not in MEMBERS:
        return _RUNTIME if str(at[-1]).startswith(SETTINGS_HYPERPARAMETER) else _LAUNCHER
    if at[:2] in MEMBERS and at[0] == "InputDataConfig":
        return MEMBERS[at[:2]]
    for length in range(len(at), 0, -1):
        known = MEMBERS.get(at[:length]) or MEMBERS.get((at[0], "*", *at[2:length]) if length > 1 else at[:length])
        if known is not None:
            return known
    return _UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One difference.

    ``at`` contains the names of named items; ``old_path`` and ``new_path`` are paths in the payloads.

    ``old`` or ``new`` None: it is missing.
    """

    at: Path
    old_path: Path
    new_path: Path
    old: object
    new: object


def spec_keys(payload: dict[str, object]) -> dict[Path, Path]:
    """Return the key of a spec for each part of a request that one sets: what its author would call it."""
    found: dict[Path, Path] = {}
    for steps, rows in rows_by_member().items():
        row = rows[0]
        for path, names in _places(payload, steps):
            key = tuple(names.pop(0) if step == "*" and names else step for step in row.path.split("."))
            found[path] = key
            if isinstance(row.form, ValueForm) and row.form.shape == "map":
                found.update({(*path, name): (*key, name) for name in _members(_at(payload, path))})
            if path in _NAMED_BY:
                named = _by_name(_listed(_at(payload, path)), path)
                found.update({(*path, index): (*key, name) for name, (index, _) in named.items()})
    return found


def _places(payload: dict[str, object], steps: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield the paths of a member, and the names of the items on the way."""
    places: list[tuple[Path, list[str], object]] = [((), [], payload)]
    for number, step in enumerate(steps):
        if step != "*":
            places = [
                ((*path, step), names, value[step])
                for path, names, value in places
                if isinstance(value, dict) and step in value
            ]
            continue
        named = tuple(steps[:number])
        places = [
            ((*path, index), [*names, name], item)
            for path, names, value in places
            if named in _NAMED_BY
            for name, (index, item) in _by_name(_listed(value), named).items()
        ]
    return ((path, list(names)) for path, names, _ in places)


def leaves(old: dict[str, object], new: dict[str, object]) -> Iterator[Leaf]:
    """Yield every difference, in the order of the new payload; removed members come last in their group."""
    return _structures(old, new, (), (), ())


def reordered(old: dict[str, object], new: dict[str, object]) -> list[Path]:
    """Return the lists of named items that contain the same names in a different order."""
    return [
        path
        for path in _NAMED_BY
        if (before := _names(_at(old, path), path)) != (after := _names(_at(new, path), path))
        and sorted(before) == sorted(after)
    ]


def _structures(old: object, new: object, at: Path, old_path: Path, new_path: Path) -> Iterator[Leaf]:
    if at in _NAMED_BY and (isinstance(old, list) or isinstance(new, list)):
        yield from _named(_listed(old), _listed(new), at, old_path, new_path)
    elif isinstance(old or {}, dict) and isinstance(new or {}, dict) and (old or new):
        before, after = _members(old), _members(new)
        for name in dict.fromkeys([*after, *before]):
            paths = (*at, name), (*old_path, name), (*new_path, name)
            yield from _structures(before.get(name), after.get(name), *paths)
    elif not _same(old, new):
        yield Leaf(at=at, old_path=old_path, new_path=new_path, old=old, new=new)


def _named(old: list[object], new: list[object], at: Path, old_path: Path, new_path: Path) -> Iterator[Leaf]:
    before, after = _by_name(old, at), _by_name(new, at)
    for name in dict.fromkeys([*after, *before]):
        places = [
            (*path, found[name][0]) if name in found else path
            for path, found in ((old_path, before), (new_path, after))
        ]
        here = (*at, name)
        if name in before and name in after:
            yield from _structures(before[name][1], after[name][1], here, *places)
        else:
            gone, come = (found[name][1] if name in found else None for found in (before, after))
            yield Leaf(at=here, old_path=places[0], new_path=places[1], old=gone, new=come)


def _by_name(items: list[object], at: Path) -> dict[str, tuple[int, object]]:
    """Return index and item by name; one with a duplicate name, or none, gets its number too."""
    found: dict[str, tuple[int, object]] = {}
    for index, item in enumerate(items):
        name = str(item.get(_NAMED_BY[at], "")) if isinstance(item, dict) else ""
        found[name if name and name not in found else f"{name}#{index}"] = index, item
    return found


def _names(items: object, at: Path) -> list[str]:
    return list(_by_name(_listed(items), at))


def _at(value: object, path: Path) -> object:
    for step in path:
        if isinstance(value, list) and isinstance(step, int):
            value = value[step]
            continue
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _members(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _same(old: object, new: object) -> bool:
    """Return whether two JSON values are equal: 1 and true are not."""
    return old == new and isinstance(old, bool) == isinstance(new, bool)


_ABSENT_OR = {
    ("EnableNetworkIsolation",): False,
    ("EnableInterContainerTrafficEncryption",): False,
    ("EnableManagedSpotTraining",): False,
    ("OutputDataConfig", "CompressionType"): "GZIP",
    ("OutputDataConfig", "KmsKeyId"): "",
    ("ResourceConfig", "VolumeKmsKeyId"): "",
    ("AlgorithmSpecification", "EnableSageMakerMetricsTimeSeries"): False,
    ("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode"): "Platform",
    ("StoppingCondition", "MaxRuntimeInSeconds"): 86_400,
    ("CheckpointConfig", "LocalPath"): "/opt/ml/checkpoints/",
    ("RemoteDebugConfig", "EnableRemoteDebug"): False,
    ("InfraCheckConfig", "EnableInfraCheck"): False,
    ("ProfilerConfig", "DisableProfiler"): False,
    ("ProfilerConfig", "ProfilingIntervalInMilliseconds"): 500,
}
_OF_A_CHANNEL = {
    ("CompressionType",): "None",
    ("RecordWrapperType",): "None",
    ("DataSource", "S3DataSource", "S3DataDistributionType"): "FullyReplicated",
}


def without_defaults(payload: dict[str, object]) -> dict[str, object]:
    """Return a request without default values, to compare it with a description; both sides need this."""
    changed = payload
    for path, default in _ABSENT_OR.items():
        changed = _without(changed, path, default)
    mode = structure(changed, "AlgorithmSpecification").get("TrainingInputMode")
    channels = []
    for channel in items(changed, "InputDataConfig"):
        members = structure(channel)
        for path, default in (*_OF_A_CHANNEL.items(), (("InputMode",), mode)):
            members = _without(members, path, default)
        channels.append(members)
    return {**changed, "InputDataConfig": channels} if channels else changed


def _without(members: dict[str, object], path: tuple[str, ...], default: object) -> dict[str, object]:
    name, *rest = path
    value = members.get(name)
    if rest:
        if not isinstance(value, dict):
            return members
        inner = _without(value, tuple(rest), default)
        if inner is value:
            return members
        kept = {**members, name: inner}
        return kept if inner else {key: there for key, there in kept.items() if key != name}
    same = value is not None and value == default and isinstance(value, bool) == isinstance(default, bool)
    if not same and isinstance(value, str) and isinstance(default, str) and len(default) > 1:
        same = value.rstrip("/") == default.rstrip("/") and default.startswith("/")
    return {key: there for key, there in members.items() if key != name} if same else members
