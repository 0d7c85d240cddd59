"""ResourceConfig: warm pools, placement, and training plans."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.instance_types import ULTRASERVER, family, is_known
from smspec.service.request import Request
from smspec.service.shapes import items, number, pinned_model, structure
from smspec.source import Path

LONG_WARM_POOL = Rule("SM349", "long warm pool", "warning", evidence="conflict")

_LONGEST_IN_THE_GUIDE = 3_600

_LONGEST_IN_THE_MODEL = 21_600


def long_warm_pool(request: Request) -> Iterator[Finding]:
    """Warn about a keep-alive period above the limit of the guide and within that of the model.

    The API model and the developer guide differ on how long instances can be kept.
    """
    if _LONGEST_IN_THE_GUIDE < request.keep_alive <= _LONGEST_IN_THE_MODEL:
        yield LONG_WARM_POOL.at(
            ("ResourceConfig", "KeepAlivePeriodInSeconds"),
            f"`{request.word('KeepAlivePeriodInSeconds', 'hosts.keep_alive')}` is {request.time(request.keep_alive)}; "
            f"the maximum in the developer guide is {request.time(_LONGEST_IN_THE_GUIDE)}",
            help=(
                f"use {request.time(_LONGEST_IN_THE_GUIDE)} or less; the API model allows "
                f"{request.time(_LONGEST_IN_THE_MODEL)}"
            ),
        )


PLACEMENT_OF_ZERO_INSTANCES = Rule("SM462", "placement of zero instances", evidence="api-doc", needs_every_layer=True)


def placement_of_zero_instances(request: Request) -> Iterator[Finding]:
    """Reject a placement specification of 0 instances.

    The API model allows a placement of 0 instances; its description does not.
    """
    here = ("ResourceConfig", "InstancePlacementConfig", "PlacementSpecifications")
    for index, placement in enumerate(items(request.payload, *here)):
        if number(placement, "InstanceCount") == 0:
            yield PLACEMENT_OF_ZERO_INSTANCES.at(
                (*here, index, "InstanceCount"), f"{HERE} is 0; the minimum is 1", help="use 1 or more"
            )


PLACEMENT_WITHOUT_AN_ULTRASERVER = Rule(
    "SM461", "placement without an UltraServer", evidence="api-doc", needs_every_layer=True
)


def placement_without_an_ultraserver(request: Request) -> Iterator[Finding]:
    """Reject InstancePlacementConfig where no instance type belongs to an UltraServer. Unknown types may.

    Only UltraServers support placement.
    """
    kinds = [kind for _, kind in request.instance_types]
    if not kinds or not structure(request.payload, "ResourceConfig").get("InstancePlacementConfig"):
        return
    if all(is_known(kind) and family(kind) not in ULTRASERVER for kind in kinds):
        yield PLACEMENT_WITHOUT_AN_ULTRASERVER.at(
            ("ResourceConfig", "InstancePlacementConfig"),
            f"{HERE} requires an UltraServer, not `{kinds[0]}`",
            help="remove it, or use an instance type of ml.p6e-gb200 or ml.trn2",
            on="key",
        )


PLACEMENTS_BEYOND_THE_HOSTS = Rule("SM351", "placements of more hosts than the job has", "warning", evidence="inferred")


def placements_beyond_the_hosts(request: Request) -> Iterator[Finding]:
    """Warn about placements that add up to more than InstanceCount.

    Placements cover instances of the job.
    """
    here = ("ResourceConfig", "InstancePlacementConfig", "PlacementSpecifications")
    placed = sum(number(placement, "InstanceCount") or 0 for placement in items(request.payload, *here))
    count = request.host_count
    if count is not None and placed > count:
        yield PLACEMENTS_BEYOND_THE_HOSTS.at(
            here,
            f"`PlacementSpecifications` place {placed:,} instances, but the job has {count:,}",
            help=f"reduce the placements to {count:,}",
            on="key",
        )


TRAINING_PLAN_OF_OTHER_HOSTS = Rule("SM824", "training plan of other instance types", "warning", evidence="model")


def training_plan_of_other_hosts(request: Request) -> Iterator[Finding]:
    """Warn about a training plan where no training plan reserves a type of the job. Newer types are unknown.

    A training plan reserves instances of a few types.
    """
    model = pinned_model()
    reserved, known = (model.shapes[name].enum for name in ("ReservedCapacityInstanceType", "TrainingInstanceType"))
    for path, kinds in _plans(request):
        if kinds and all(kind in known and kind not in reserved for kind in kinds):
            yield TRAINING_PLAN_OF_OTHER_HOSTS.at(
                path,
                f"{HERE} is set, but no plan has `{kinds[0]}` as of {model.date}",
                help=f"remove it, or use a type such as `{reserved[1]}` that the plan reserves",
            )


def _plans(request: Request) -> Iterator[tuple[Path, list[str]]]:
    """Yield the path of each training plan with the instance types that it may be for."""
    hosts = structure(request.payload, "ResourceConfig")
    if hosts.get("TrainingPlanArn"):
        yield ("ResourceConfig", "TrainingPlanArn"), [kind for _, kind in request.instance_types]
    for index, preference in enumerate(items(hosts, "InstancePreferences")):
        if items(preference, "TrainingPlanArns"):
            here: Path = ("ResourceConfig", "InstancePreferences", index)
            yield (
                (*here, "TrainingPlanArns"),
                [kind for path, kind in request.instance_types if path[: len(here)] == here],
            )


TRAINING_PLAN_WITH_SPOT = Rule("SM350", "training plan with managed spot", "warning", evidence="inferred")


def training_plan_with_spot(request: Request) -> Iterator[Finding]:
    """Warn about a training plan in a job with managed spot training. SM825 is about the plans of preferences.

    A training plan is reserved capacity; spot capacity is what is left over.
    """
    if request.uses_spot and structure(request.payload, "ResourceConfig").get("TrainingPlanArn"):
        spot = request.word("EnableManagedSpotTraining", "spot")
        yield TRAINING_PLAN_WITH_SPOT.at(
            ("ResourceConfig", "TrainingPlanArn"),
            f"the training plan might not work with `{spot}`",
            help=f"remove the training plan, or `{spot}`",
            on="key",
        )


PREFERENCES_WITH_AN_EXCLUDED_MEMBER = Rule(
    "SM825", "instance preferences with a member that they exclude", evidence="api-doc"
)

_REPLACED = ("InstanceType", "InstanceGroups", "InstancePlacementConfig")


def preferences_with_an_excluded_member(request: Request) -> Iterator[Finding]:
    """Reject InstancePreferences together with what they replace, and a plan of the job together with their plans.

    SageMaker chooses one of the preferred types, with its own plan or on demand.
    """
    hosts = structure(request.payload, "ResourceConfig")
    preferences = items(hosts, "InstancePreferences")
    excluded: list[Path] = [("ResourceConfig", name) for name in _REPLACED if hosts.get(name)]
    if hosts.get("TrainingPlanArn") and any(items(each, "TrainingPlanArns") for each in preferences):
        excluded.append(("ResourceConfig", "TrainingPlanArn"))
    if request.uses_spot:
        excluded.append(("EnableManagedSpotTraining",))
    for path in excluded if preferences else ():
        yield PREFERENCES_WITH_AN_EXCLUDED_MEMBER.at(
            path,
            f"{HERE} cannot be combined with `InstancePreferences`",
            help="remove one of them",
            on="key",
        )


WARM_POOL_WITH_INSTANCE_GROUPS = Rule("SM460", "warm pool with instance groups", evidence="devguide")


def warm_pool_with_instance_groups(request: Request) -> Iterator[Finding]:
    """Reject KeepAlivePeriodInSeconds together with InstanceGroups.

    The instances of a warm pool have one type.
    """
    if request.keep_alive > 0 and items(request.payload, "ResourceConfig", "InstanceGroups"):
        yield _warm_pool_with(request.word("InstanceGroups", "hosts.groups"), WARM_POOL_WITH_INSTANCE_GROUPS)


WARM_POOL_WITH_SPOT = Rule("SM459", "warm pool with managed spot", evidence="devguide")


def warm_pool_with_spot(request: Request) -> Iterator[Finding]:
    """Reject KeepAlivePeriodInSeconds together with managed spot training.

    Spot instances are returned, so they cannot be kept warm.
    """
    if request.keep_alive > 0 and request.uses_spot:
        yield _warm_pool_with(request.word("EnableManagedSpotTraining", "spot"), WARM_POOL_WITH_SPOT)


def _warm_pool_with(other: str, rule: Rule) -> Finding:
    return rule.at(
        ("ResourceConfig", "KeepAlivePeriodInSeconds"),
        f"{HERE} cannot be combined with `{other}`",
        help=f"remove one of them, this key or `{other}`",
        on="key",
    )


RULES = {
    long_warm_pool: ("ResourceConfig.KeepAlivePeriodInSeconds",),
    placement_of_zero_instances: ("ResourceConfig.InstancePlacementConfig",),
    placement_without_an_ultraserver: ("ResourceConfig.InstancePlacementConfig",),
    placements_beyond_the_hosts: ("ResourceConfig.InstancePlacementConfig",),
    preferences_with_an_excluded_member: ("ResourceConfig.InstancePreferences",),
    training_plan_of_other_hosts: ("ResourceConfig.TrainingPlanArn", "ResourceConfig.InstancePreferences"),
    training_plan_with_spot: ("ResourceConfig.TrainingPlanArn",),
    warm_pool_with_instance_groups: ("ResourceConfig.KeepAlivePeriodInSeconds",),
    warm_pool_with_spot: ("ResourceConfig.KeepAlivePeriodInSeconds",),
}
