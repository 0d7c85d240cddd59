"""What an organization decides about all its jobs: a policy, quotas, a registry, and how severe findings are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from smspec.diagnostics import Finding, Note, count
from smspec.service.image_reference import parsed_reference
from smspec.service.instance_types import SIZE_THAT_THE_FAMILY_LACKS, UNKNOWN_INSTANCE_TYPE
from smspec.service.job_costs import PriceBook
from smspec.service.request import Request
from smspec.service.shapes import Model, pinned_model
from smspec.source import Path
from smspec.source.frozen import dataclass, field, replace

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

RUNTIME = "Longest run time for a training job"
VOLUME = "Size of EBS volume for a training job instance"
WARM_POOL = "{} for training warm pool usage"

Level = Literal["error", "warning", "note", "off"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note", "off")
"""From the highest to the lowest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionQuotas:
    """The quotas of an account in a region: name of the quota → value. ``as_of``: the date of the request."""

    as_of: str
    training: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """``accounts``: account → region → its quotas."""

    accounts: Mapping[str, Mapping[str, RegionQuotas]] = field(default_factory=dict)

    def of(self, request: Request) -> RegionQuotas | None:
        """Return the quotas for a request: those of its role's account in its region; None if they are unknown."""
        role, region = request.role, request.region
        if role is None or not self.accounts:
            return None
        if region is None and request.image is not None:
            region = request.image.region
        return self.accounts.get(role.account, {}).get(region or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrySettings:
    """``create``: whether missing repositories are created at all. The rest is for those that are.

    ``keep_images``: how many images a repository keeps, the newest; None keeps all.
    """

    create: bool = True
    scan_on_push: bool = True
    immutable_tags: bool = True
    keep_images: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFacts:
    """What the organization knows of AWS that is newer than the tables and the pinned API model.

    ``images``: ``REPOSITORY:TAG``, with a registry or without one. ``members`` are paths of the request, as in
    ``ResourceConfig.InstanceType``; ``values`` have a value after ``=``. ``today``: a date, or empty. ``model`` is the
    pinned one with what `smspec facts --update` found, and ``tags`` are the images that it found, ``REPOSITORY:TAG``.
    """

    images: tuple[str, ...] = ()
    instance_types: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    today: str = ""
    model: Model | None = None
    tags: frozenset[str] = frozenset()

    @property
    def newer_members(self) -> frozenset[str]:
        """The members of a request that the pinned model lacks."""
        merged = () if self.model is None else self.model.root.members.keys() - pinned_model().root.members
        return frozenset((*merged, *self.members))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredBase:
    """The base specs of which a job extends one, relative to ``file``."""

    file: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """None, or empty: no requirement.

    ``required_tags``: name → the values it may have, none: any. ``levels``: code → its severity. ``may_ignore``:
    whether a spec may ignore checks, or the codes that it may ignore. ``floors``: code → its lowest severity, as files
    of inner directories set it. ``path``: the innermost file with the policy; ``sources``: which file sets a key.
    ``allowed_queues``: a job waits in one of them.
    ``max_cost``: US dollars for a job at most, by ``prices``; ``max_hours``: instance hours for a job at most.
    ``priced_by``: the prices of the file that limits the cost, and of those above it. ``require_base``: a job extends
    a base spec of each. ``quotas``: what AWS grants the accounts, from a file next to the policy. ``registry``: how
    `smspec build --push` creates repositories.
    """

    path: str
    sources: dict[Path, str] = field(default_factory=dict)
    required_tags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    allowed_instance_families: tuple[str, ...] | None = None
    allowed_regions: tuple[str, ...] | None = None
    allowed_registries: tuple[str, ...] | None = None
    require_kms: bool = False
    require_vpc: bool = False
    max_cost: Fraction | None = None
    max_hours: Decimal | int | None = None
    allowed_queues: tuple[str, ...] | None = None
    max_priority: int | None = None
    require_base: tuple[RequiredBase, ...] = ()
    prices: PriceBook = field(default_factory=PriceBook)
    priced_by: PriceBook | None = None
    quotas: Quotas = field(default_factory=Quotas)
    facts: KnownFacts = field(default_factory=KnownFacts)
    may_ignore: bool | tuple[str, ...] = True
    levels: dict[str, Level] = field(default_factory=dict)
    floors: dict[str, Level] = field(default_factory=dict)
    registry: RegistrySettings = field(default_factory=RegistrySettings)

    def file_of(self, *key: str) -> str:
        """Return the file that sets a key, the innermost if several do."""
        return self.sources.get(key) or self.sources.get(key[:1]) or self.path

    def lets_ignore(self, code: str) -> bool:
        return code in self.may_ignore if isinstance(self.may_ignore, tuple) else self.may_ignore


def usage(instance_type: str, *, spot: bool) -> str:
    """Return the name of the quota for the instances of a type that run at once."""
    return f"{instance_type} for {_kind(spot)} job usage"


def per_job(*, spot: bool) -> str:
    """Return the name of the quota for the instances of a job."""
    return f"Maximum number of instances per {_kind(spot)} job"


def across_jobs(*, spot: bool) -> str:
    """Return the name of the quota for the instances of all jobs together."""
    return f"Number of instances across all {_kind(spot)} jobs"


def is_about_training(name: str) -> bool:
    """Return whether a job is compared with the quota of a name."""
    ends = (usage("", spot=False), usage("", spot=True), WARM_POOL.format(""))
    if name.startswith("ml.") and name.endswith(ends):
        return True
    both = (per_job, across_jobs)
    return name in (RUNTIME, VOLUME) or any(name == named(spot=spot) for named in both for spot in (False, True))


def _kind(spot: bool) -> str:
    return "spot training" if spot else "training"


_UNLISTED_TAG = "SM385"
_OF_THE_TABLES = frozenset({"SM384", _UNLISTED_TAG, "SM488"})
"""The account has no such repository, the tag is not listed, the account has no images in the region."""

_DATED = "as of 2"
_AS_OF = r"as of (2[0-9]{3}-[0-9]{2}-[0-9]{2})"
_OF_THE_MODEL = (UNKNOWN_INSTANCE_TYPE.code, SIZE_THAT_THE_FAMILY_LACKS.code)
_UNKNOWN_MEMBER, _UNKNOWN_VALUE = "SM402", "SM407"


def at_level(
    findings: Iterable[Finding], levels: Mapping[str, Level], floors: Mapping[str, Level]
) -> Iterator[Finding]:
    """Yield findings with the severities in ``levels``, raised to those in ``floors``; what is off is omitted."""
    for finding in findings:
        level: Level = levels.get(finding.code, finding.severity)
        floor = floors.get(finding.code)
        if floor is not None:
            level = min(level, floor, key=LEVELS.index)
        if level != "off":
            yield finding if level == finding.severity else replace(finding, severity=level)


def with_ages(findings: Iterable[Finding], today: str) -> Iterator[Finding]:
    """Yield findings with a note on the age of their table, where it is a year or older.

    A check reads no clock: ``today`` is the date that the repository states, and the API model was pinned before, too.
    """
    for finding in findings:
        texts = " ".join((finding.message, finding.help, *(note.message for note in finding.notes)))
        dates = re.findall(_AS_OF, re.sub("`[^`]*`", "", texts)) if _DATED in texts else ()  # without an author's words
        latest = max(today, pinned_model().date) if dates else ""
        years = max((0, *(_years(date, latest) for date in dates)))
        note = Note(f"{min(dates)} was over {count(years, 'year')} ago; AWS may have changed this") if years else None
        yield finding if note is None else replace(finding, notes=(*finding.notes, note))


def _years(date: str, latest: str) -> int:
    return int(latest[:4]) - int(date[:4]) - (latest[4:] < date[4:])


def without_known(findings: Iterable[Finding], request: Request, facts: KnownFacts) -> list[Finding]:
    """Return findings about a request without those that contradict facts."""
    image = parsed_reference(request.tagged_image) or request.image
    names = (
        () if image is None else (f"{image.repository}:{image.tag}", f"{image.registry}/{image.repository}:{image.tag}")
    )
    is_known = any(name in facts.images for name in names)
    is_listed = is_known or any(name in facts.tags for name in names)

    def is_contradicted(finding: Finding) -> bool:
        if finding.code in _OF_THE_TABLES:
            return is_listed if finding.code == _UNLISTED_TAG else is_known
        member = ".".join(step for step in finding.path if isinstance(step, str))
        if finding.code == _UNKNOWN_MEMBER:
            return member in facts.members
        value = _value_at(request.payload, finding.path)
        if finding.code == _UNKNOWN_VALUE:
            return f"{member}={value}" in facts.values
        return finding.code in _OF_THE_MODEL and value in facts.instance_types

    return [finding for finding in findings if not is_contradicted(finding)]


def _value_at(value: object, path: Path) -> object:
    """Return the value at a path; None if there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
