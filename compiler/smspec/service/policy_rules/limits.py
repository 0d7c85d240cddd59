"""Limits of a policy for what a job can cost, and the quotas of its account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.job_costs import choices, help_to_shorten, instance_hours, instance_time
from smspec.service.policy import RUNTIME, VOLUME, WARM_POOL, Policy, RegionQuotas, across_jobs, per_job, usage
from smspec.service.request import Request
from smspec.service.shapes import items, member, number, structure
from smspec.source import Path

COST_ABOVE_THE_LIMIT = Rule("SM748", "cost above the limit", evidence="policy", needs_every_layer=True)


def cost_above_the_limit(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job whose cost ceiling is above the limit.

    A job that hangs costs its instances for the maximum runtime.
    """
    if policy.max_cost is None:
        return
    # Imported late: few policies limit the cost, and fractions take longer to load than the checks of a spec.
    from smspec.service.cost_ceiling import ceiling_of, dollars

    ceiling = ceiling_of(request.payload, policy.prices, request.region, request.attempts)
    if ceiling is not None and ceiling.usd is not None and ceiling.usd > policy.max_cost:
        yield COST_ABOVE_THE_LIMIT.at(
            ("ResourceConfig",),
            f"`{policy.file_of('max_cost')}` allows {dollars(policy.max_cost)} for a job, but this one can cost "
            f"{dollars(ceiling.usd)} ({instance_hours(float(ceiling.total))})",
            help=help_to_shorten(request),
        )


TOO_MANY_INSTANCE_HOURS = Rule("SM749", "too many instance hours", evidence="policy", needs_every_layer=True)


def too_many_instance_hours(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job that may use its instances for longer than the limit, in total.

    Instance hours can be limited without knowing prices.
    """
    if policy.max_hours is None:
        return
    times = [instance_time(each, request.attempts) for each in choices(request.payload)]
    seconds = max((sum(time.seconds.values()) for time in times if time is not None), default=0)
    if seconds > policy.max_hours * 3600:
        file = policy.file_of("max_hours")
        yield TOO_MANY_INSTANCE_HOURS.at(
            ("ResourceConfig",),
            f"`{file}` allows {instance_hours(float(policy.max_hours))} for a job, but this one can use "
            f"{instance_hours(seconds / 3600)}",
            help=help_to_shorten(request),
        )


UNKNOWN_COST = Rule("SM750", "unknown cost", "note", evidence="policy", needs_every_layer=True)


def unknown_cost(request: Request, policy: Policy) -> Iterator[Finding]:
    """Report that the cost of a job was not checked, because an instance type has no price, or is unknown.

    A limit on the cost cannot be checked without a price.
    """
    if policy.max_cost is None and policy.max_hours is None:
        return
    times = [time for each in choices(request.payload) if (time := instance_time(each, request.attempts)) is not None]
    if not times:
        limit = "max_hours" if policy.max_cost is None else "max_cost"
        yield UNKNOWN_COST.at(
            ("ResourceConfig",),
            f"`{limit}` in `{policy.file_of(limit)}` was not checked: the instances of the job are unknown",
            help="set the instances, or ask the policy owner",
        )
    if policy.max_cost is None:
        return
    prices = (policy.priced_by or policy.prices).of(request.payload, request.region)
    missing = sorted({kind for time in times for kind in time.seconds if prices.dollars(kind) is None})
    if missing:
        yield UNKNOWN_COST.at(
            ("ResourceConfig",),
            f"`{policy.file_of('max_cost')}` has no price of {one_of(missing)}, so the cost of the job was not checked",
            help=f'run `smspec prices --update`, or add it to `[prices]`: `"{missing[0]}" = …`',
        )


def _key_of_the_instances(_: Request) -> Path:
    """Return the key for what all members of ResourceConfig, and the runtime, are about together."""
    return ("hosts",)


REQUEST_ABOVE_A_QUOTA = Rule("SM753", "request above a quota", "warning", evidence="policy")

_HOSTS = "ResourceConfig"

_OF_THE_DEFAULT = "SM353"


def request_above_a_quota(request: Request, policy: Policy) -> Iterator[Finding]:
    """Warn about what is above a quota of the account, as of the date of the quotas.

    AWS does not start a job that needs more than the quotas of its account, until it raises the quota.
    """
    quotas = policy.quotas.of(request)
    if quotas is not None:
        yield from _instances(request, quotas)
        yield from _limits(request, quotas)


def needed_quotas(request: Request) -> dict[str, int]:
    """Return how many instances the job takes of each quota; none if a plan reserves them or SageMaker chooses."""
    hosts, spot = structure(request.payload, _HOSTS), request.uses_spot
    if _has_own_instances(hosts):
        return {}
    needed: dict[str, int] = {}
    for _, kind, _, count in _counts(hosts):
        needed.update(dict.fromkeys(_quotas_of_type(kind, request), count))
    total = request.host_count
    if needed and total is not None:
        needed.update({per_job(spot=spot): total, across_jobs(spot=spot): total})
    return needed


def without_the_default(findings: Iterable[Finding], request: Request, policy: Policy) -> list[Finding]:
    """Return findings without the one about the default quota, if the quota of the account is known."""
    quotas = policy.quotas.of(request)
    is_known = quotas is not None and RUNTIME in quotas.training
    return [finding for finding in findings if not is_known or finding.code != _OF_THE_DEFAULT]


def _instances(request: Request, quotas: RegionQuotas) -> Iterator[Finding]:
    """Yield where there are too many instances: of a type, else in all."""
    hosts, spot = structure(request.payload, _HOSTS), request.uses_spot
    if _has_own_instances(hosts):
        return
    of_types = [*_above_of_types(request, hosts, quotas)]
    yield from of_types
    total = request.host_count
    if of_types or total is None:
        return
    has_groups = bool(items(hosts, "InstanceGroups"))
    path = (_HOSTS, "InstanceGroups" if has_groups else "InstanceCount")
    has = f"{HERE} has {total} instances" if has_groups else f"{HERE} is {total}"
    for name in (per_job(spot=spot), across_jobs(spot=spot)):
        if total > quotas.training.get(name, total):
            yield _above(quotas, path, has, name)
            return


def _above_of_types(request: Request, hosts: dict[str, object], quotas: RegionQuotas) -> Iterator[Finding]:
    for path, kind, own, count in _counts(hosts):
        names = _quotas_of_type(kind, request)
        name = next((name for name in names if count > quotas.training.get(name, count)), None)
        if name is not None:
            yield _above(
                quotas,
                path,
                f"{HERE} is {count}" if own == count else f"groups up to {HERE} have {count} `{kind}`",
                name,
            )


def _quotas_of_type(kind: str, request: Request) -> list[str]:
    return [usage(kind, spot=request.uses_spot), *([WARM_POOL.format(kind)] if request.keep_alive else [])]


def _has_own_instances(hosts: dict[str, object]) -> bool:
    """Return whether a training plan reserves the instances, or SageMaker chooses one of preferred types."""
    return hosts.get("TrainingPlanArn") is not None or bool(items(hosts, "InstancePreferences"))


def _counts(hosts: dict[str, object]) -> Iterator[tuple[Path, str, int, int]]:
    """Yield the path of the last count of each type, the type, that count, and those of all groups together."""
    holders: list[tuple[Path, object]] = [
        ((_HOSTS, "InstanceGroups", index, "InstanceCount"), group)
        for index, group in enumerate(items(hosts, "InstanceGroups"))
    ]
    counts: dict[str, tuple[Path, int, int]] = {}
    for path, holder in holders or [((_HOSTS, "InstanceCount"), hosts)]:
        kind, count = member(holder, "InstanceType"), number(holder, "InstanceCount")
        if isinstance(kind, str) and count is not None:
            counts[kind] = (path, count, count + (counts[kind][2] if kind in counts else 0))
    for kind, (path, own, count) in counts.items():
        yield path, kind, own, count


def _limits(request: Request, quotas: RegionQuotas) -> Iterator[Finding]:
    """Yield where the runtime or the volume is above its quota."""
    seconds, longest = request.max_runtime, quotas.training.get(RUNTIME)
    if seconds is not None and longest is not None and seconds > longest:
        limit = f"the quota of {request.time(longest)} as of {quotas.as_of}"
        path: Path = ("StoppingCondition", "MaxRuntimeInSeconds")
        yield REQUEST_ABOVE_A_QUOTA.at(
            path, f"{HERE} is {request.time(seconds)}, above {limit}", help=_quota_help(RUNTIME)
        )
    size, largest = number(request.payload, _HOSTS, "VolumeSizeInGB"), quotas.training.get(VOLUME)
    if size is not None and largest is not None and size > largest and "ebs" in request.storages:
        limit = f"the quota of {largest:,} GB as of {quotas.as_of}"
        yield REQUEST_ABOVE_A_QUOTA.at(
            (_HOSTS, "VolumeSizeInGB"), f"{HERE} is {size:,} GB, above {limit}", help=_quota_help(VOLUME)
        )


def _above(quotas: RegionQuotas, path: Path, has: str, name: str) -> Finding:
    return REQUEST_ABOVE_A_QUOTA.at(
        path, f"{has}, above the quota of {quotas.training[name]} as of {quotas.as_of}", help=_quota_help(name)
    )


def _quota_help(name: str) -> str:
    return f"reduce it, or ask AWS to increase the quota “{name}”"


RULES = {
    cost_above_the_limit: _key_of_the_instances,
    too_many_instance_hours: _key_of_the_instances,
    unknown_cost: _key_of_the_instances,
    request_above_a_quota: None,
}
