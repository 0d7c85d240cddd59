"""Rules about a whole request whose members have their shapes: a module per part of the request, a function per rule.

`FAMILIES` lists what activates each module, and its `RULES` what activates each rule: most requests have neither a
debugger nor a warm pool, and do not import those rules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import chain

from smspec.diagnostics import Finding
from smspec.service.request import Request
from smspec.service.shape_limits import limit_findings
from smspec.service.shapes import Model, structure
from smspec.source.frozen import ByIdentity

BUILT_IN_ALGORITHM = "a built-in algorithm"
"""Activates a rule if the image or the script may be one: few requests have such an image."""
LAUNCHER = "a launcher"
"""Activates a rule if smspec or SageMaker's toolkit launches processes by settings that the rules read."""

PROVIDED_IMAGE = "an image of AWS"
"""Activates what reads the tables of `smspec.service.facts`: most jobs run an image of their own."""

SECRETS = "secrets by reference"
"""Activates a rule if the smspec runtime fetches secrets for the job."""

OF_NO_MEMBER = frozenset({BUILT_IN_ALGORITHM, LAUNCHER, PROVIDED_IMAGE, SECRETS})

FAMILIES: dict[str, tuple[str, ...]] = {
    "whole_request": (),
    "algorithm": ("AlgorithmSpecification",),
    "algorithm_command": ("AlgorithmSpecification.ContainerEntrypoint", "AlgorithmSpecification.ContainerArguments"),
    "algorithm_metrics": (
        "AlgorithmSpecification.MetricDefinitions",
        "AlgorithmSpecification.EnableSageMakerMetricsTimeSeries",
    ),
    "built_in_data_and_hosts": (BUILT_IN_ALGORITHM,),
    "built_in_values": (BUILT_IN_ALGORITHM,),
    "channels": ("InputDataConfig",),
    "channels_s3": ("InputDataConfig.DataSource.S3DataSource",),
    "images": (PROVIDED_IMAGE,),
    "storage": (),
    "hosts": ("ResourceConfig", LAUNCHER),
    "hosts_capacity": (
        "ResourceConfig.KeepAlivePeriodInSeconds",
        "ResourceConfig.InstancePlacementConfig",
        "ResourceConfig.TrainingPlanArn",
        "ResourceConfig.InstancePreferences",
    ),
    "stopping": (
        "StoppingCondition",
        "EnableManagedSpotTraining",
    ),
    "network": (
        "VpcConfig",
        "EnableNetworkIsolation",
        "EnableInterContainerTrafficEncryption",
        "RemoteDebugConfig",
    ),
    "debugging": (
        "DebugHookConfig",
        "DebugRuleConfigurations",
        "ProfilerConfig",
        "ProfilerRuleConfigurations",
    ),
    "serverless": (
        "ServerlessJobConfig",
        "ModelPackageConfig",
    ),
    "secret_references": (SECRETS,),
    "secrets": (),
}
"""Module with rules → what activates it: one of these members of the request, members of any item of a list, or one of
`OF_NO_MEMBER`; empty: always.

In `RULES` of the module, each rule, a function of the request, has its own: some of these members, members below them,
or such members with a value; empty: whatever activates the module.
"""

_LAUNCHER_SETTINGS = (
    "sagemaker_smspec",
    "sagemaker_mpi_num_of_processes_per_host",
    "sagemaker_distributed_dataparallel_enabled",
)

_BUCKET_OF_SCRIPTS = "s3://jumpstart-cache-prod-"
"""AWS's scripts of LightGBM, CatBoost, and other newer algorithms, which run in images of frameworks."""

# fmt: off
_ALGORITHMS = frozenset({
    "blazingtext", "factorization-machines", "forecasting-deepar", "image-classification", "ipinsights", "kmeans",
    "knn", "lda", "linear-learner", "ntm", "object-detection", "object2vec", "pca", "randomcutforest",
    "sagemaker-xgboost", "semantic-segmentation", "seq2seq", "xgboost",
})
# fmt: on


Check = Callable[[Request], Iterator[Finding]]
_ACTIVATING: ByIdentity[frozenset[str]] = ByIdentity()  # jobs share most members


class _Member:
    """A member of requests: what it activates by its value (None: any value), and the members below it."""

    __slots__ = ("below", "triggers")

    def __init__(self) -> None:
        self.triggers: dict[str | None, str] = {}
        self.below: dict[str, _Member] = {}


def rule_findings(request: Request) -> Iterator[Finding]:
    """Yield all findings of the rules for a request, at paths of the request."""
    there: set[str] = set()
    members = _members().below
    for name, value in request.payload.items():
        if name in members:
            there |= _ACTIVATING.of(name, value, functools.partial(_activating, name, value))
    image = request.image
    hyperparameters = structure(request.payload, "HyperParameters")
    is_script = _BUCKET_OF_SCRIPTS in str(hyperparameters.get("sagemaker_submit_directory", ""))
    if is_script or (image is not None and image.repository in _ALGORITHMS):
        there.add(BUILT_IN_ALGORITHM)
    if request.launcher == "smdataparallel" or any(name in hyperparameters for name in _LAUNCHER_SETTINGS):
        there.add(LAUNCHER)
    if "sagemaker_smspec" in hyperparameters and _has_secrets(hyperparameters):
        there.add(SECRETS)
    if _runs_an_image_of_aws(request):
        there.add(PROVIDED_IMAGE)
    for check in _activated(frozenset(there)):
        yield from check(request)


@functools.cache
def _members() -> _Member:
    """Return the members that activate families, and rules of those that are always active."""
    always = [family for family, triggers in FAMILIES.items() if not triggers]
    return _tree({*chain.from_iterable(FAMILIES.values()), *_triggers(always)} - OF_NO_MEMBER)


@functools.lru_cache(maxsize=256)
def _members_of_rules(there: frozenset[str]) -> _Member:
    """Return the members that activate rules of the families that are active by these."""
    return _tree(_triggers(family for family, triggers in FAMILIES.items() if not there.isdisjoint(triggers)))


def _triggers(families: Iterable[str]) -> set[str]:
    return {trigger for family in families for triggers in rules_of(family).values() for trigger in triggers}


def _tree(triggers: set[str]) -> _Member:
    """Return members as a tree, so that one walk over a request finds all that are set."""
    root = _Member()
    for trigger in triggers:
        path, equals, value = trigger.partition("=")
        member = root
        for step in path.split("."):
            member = member.below.setdefault(step, _Member())
        member.triggers[value if equals else None] = trigger
    return root


def _runs_an_image_of_aws(request: Request) -> bool:
    """Return whether the image is in an account of AWS. The account of the role is never one."""
    image = request.image
    if image is None or image.account is None or (request.role and image.account == request.role.account):
        return False
    # Imported late: it reads the accounts.
    from smspec.service.provided_images import is_provided

    return is_provided(image)


def _has_secrets(hyperparameters: dict[str, object]) -> bool:
    # Imported late: few jobs have settings.
    from smspec.service.runtime_settings import has_secret_settings

    return has_secret_settings(hyperparameters)


def _activating(name: str, value: object) -> frozenset[str]:
    """Return what a member of a request activates: first families, then rules of these."""
    there: set[str] = set()
    _look(value, _members().below[name], there)
    of_rules = _members_of_rules(frozenset(there)).below.get(name)
    if of_rules is not None:
        _look(value, of_rules, there)
    return frozenset(there)


def _look(part: object, member: _Member, there: set[str]) -> None:
    """Add to ``there`` what a part of a request activates."""
    if isinstance(part, list):
        for item in part:
            _look(item, member, there)
        return
    for value, trigger in member.triggers.items():
        if value is None or part == value:
            there.add(trigger)
    if isinstance(part, dict):
        for step, below in member.below.items():
            if step in part:
                _look(part[step], below, there)


@functools.lru_cache(maxsize=256)
def _activated(there: frozenset[str]) -> list[Check]:
    """Return the checks to run. Jobs of a repository are much alike, and most activate the same."""
    return [
        check
        for family, members in FAMILIES.items()
        if not members or not there.isdisjoint(members)
        for check, triggers in rules_of(family).items()
        if not triggers or not there.isdisjoint(triggers)
    ]


@functools.cache
def rules_of(family: str) -> dict[Check, tuple[str, ...]]:
    """Return the rules of a family, and what activates each.

    Its module is imported when a request first activates it: most requests activate few.
    """
    rules: dict[Check, tuple[str, ...]] = import_module(f"{__name__}.{family}").RULES
    return rules


SECURITY = "SM6"
"""Codes that are reported even if a value has other errors."""


def request_findings(
    payload: dict[str, object],
    *,
    region: str | None = None,
    in_spec_words: bool = False,
    launcher: str | None = None,
    tagged_image: str = "",
    today: str = "",
    model: Model | None = None,
) -> list[Finding]:
    """Return all errors and risks in a request, at paths of the request.

    The rules skip a member that does not have its shape, so that one error is not reported twice. ``region``: where the
    job is to run, if known; ``in_spec_words``: the request was made from a spec; ``launcher``: the name of the one in
    its image; ``tagged_image``: that image with its tag. ``today``: a date, empty if no file states one.
    ``model``: that of the API; None is the pinned one.
    """
    request = Request(
        payload=payload,
        region=region,
        in_spec_words=in_spec_words,
        launcher=launcher,
        tagged_image=tagged_image,
        today=today,
    )
    shape = limit_findings(payload, in_spec_words=in_spec_words, model=model)
    reported = {finding.path for finding in shape if finding.severity == "error"}
    rest = (found for found in rule_findings(request) if found.path not in reported or found.code.startswith(SECURITY))
    return [*shape, *rest]
