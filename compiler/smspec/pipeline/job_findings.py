"""Collect the findings about a job that has its shape, from one list of sources, `SOURCES`."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from smspec.diagnostics import Finding
from smspec.diagnostics.quoting import quoted
from smspec.pipeline.input_cache import LARGEST_REQUIREMENTS
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.named_files import SOURCE, requirements_too_large
from smspec.pipeline.script_reading import image_python
from smspec.plan import BuildInputs, Plan, StartupPackages
from smspec.plan.image_planning import is_lockable
from smspec.render.representable import dockerfile_findings
from smspec.rules import lint
from smspec.script.program import LAUNCHERS, Program, StartedLauncher
from smspec.script.reach import Reach
from smspec.service.policy import KnownFacts, at_level, with_ages, without_known
from smspec.service.request import Request
from smspec.service.request_rules import request_findings
from smspec.source import Document
from smspec.source.frozen import ByIdentity, dataclass, replace
from smspec.spec.lock import environment_file
from smspec.spec.model import BuiltImage, CommandEntry, ExistingImage, JobSpec, Mpi, Torchrun
from smspec.spec.shape import ambiguous_texts, nulls_that_remove_nothing
from smspec.spec.startup import REQUIREMENTS, startup_requirements

if TYPE_CHECKING:
    from smspec.rules.locking import LockedPackages
    from smspec.script.started import StartedByCommand
    from smspec.service.image_names import NamedImage

SMALLEST_VOLUME = 1 << 30
"""Bytes of VolumeSizeInGB: 1. Local storage is larger."""

_NO_FACTS = KnownFacts()
_OF_REQUIREMENTS: ByIdentity[list[Finding]] = ByIdentity()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedJob:
    """The input of every source of findings. ``named``: what the short name of the image stands for, if it has one.

    ``document``: the merged spec; with alternatives, as if the author had written this one alone.
    """

    inputs: Inputs
    spec: JobSpec
    plan: Plan
    document: Document
    named: NamedImage | None = None


def job_findings(
    inputs: Inputs, spec: JobSpec, plan: Plan, named: NamedImage | None = None, document: Document | None = None
) -> list[Finding]:
    """Return the findings about a job that has its shape, from each of `SOURCES` in their order.

    ``document``: the spec of an alternative. A finding with more information about the spec replaces the one that it
    names in ``instead_of``.
    """
    job = DecodedJob(inputs=inputs, spec=spec, plan=plan, named=named, document=document or inputs.document)
    found = [finding for source in SOURCES for finding in source(job)]
    replaced = {finding.instead_of for finding in found}
    return [finding for finding in found if finding.code not in replaced]


def standing(inputs: Inputs, job: JobSpec, findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with the severities of the organization, without those that the author ignores."""
    floors = {} if inputs.policy is None else inputs.policy.floors
    dated = with_ages(findings, _stated_date(inputs))
    graded = at_level(dated, inputs.levels, floors) if inputs.levels or floors else dated
    if not job.ignored_checks:
        return list(graded)
    # Imported late: most specs ignore nothing.
    from smspec.rules.suppressions import not_ignored

    return not_ignored(graded, job.ignored_checks, inputs.policy)


def _stated_date(inputs: Inputs) -> str:
    """Return the date that the repository states, in its settings or by its lockfile; empty if none does."""
    lock = inputs.build_inputs.lock
    return inputs.facts.today or (lock.locked if lock is not None else "")


def _secrets(job: DecodedJob) -> Iterable[Finding]:
    """Return what keeps the job from getting its secrets."""
    if not job.spec.secrets:
        return ()
    # Imported late: few jobs have secrets.
    from smspec.rules.hyperparameters import secret_findings

    return secret_findings(job.spec)


def _request(job: DecodedJob) -> Iterable[Finding]:
    """Return what the API would reject, at the key of the spec that it was made from."""
    request, image, policy = job.plan.request, job.spec.image, job.inputs.policy
    tagged = image.uri if isinstance(image, ExistingImage) else ""
    found = request_findings(
        request.payload,
        region=job.spec.region,
        in_spec_words=True,
        launcher=job.plan.run.launcher if job.plan.run else None,
        tagged_image=tagged,
        today=_stated_date(job.inputs),
        model=job.inputs.facts.model,
    )
    if policy is not None and policy.quotas.accounts:
        # Imported late: few repositories know the quotas of their accounts.
        from smspec.service.policy_rules.limits import without_the_default

        found = without_the_default(found, Request(payload=request.payload, region=job.spec.region), policy)
    if job.inputs.facts != _NO_FACTS:
        found = without_known(found, Request(payload=request.payload, tagged_image=tagged), job.inputs.facts)
    return map(request.at_origin, found)


def _image_name(job: DecodedJob) -> Iterable[Finding]:
    """Return the findings about the short name of the image."""
    if job.named is None:
        return ()
    # Imported late: most images have a registry.
    from smspec.rules.naming import naming_findings

    return naming_findings(job.named)


def _base_image(job: DecodedJob) -> Iterable[Finding]:
    """Return why AWS does not have the base image of a job. The tables have that of each short name."""
    image = job.spec.image
    if job.named is not None or not isinstance(image, BuiltImage) or ".dkr" not in image.base:
        return ()
    # Imported late: few base images are of AWS.
    from smspec.service.request_rules.images import base_image_findings

    return base_image_findings(image.base, job.inputs.facts)


def _requirements(job: DecodedJob) -> Iterable[Finding]:
    """Return what is wrong with the packages of a built image, and with those that are installed at startup."""
    image, build_inputs = job.spec.image, job.inputs.build_inputs
    content, startup = build_inputs.requirements, build_inputs.startup
    has_packages = isinstance(image, BuiltImage) and (content is not None or bool(image.python_packages))
    installed = startup_requirements(job.spec, build_inputs.source)
    if not has_packages and installed is None:
        return []
    # Imported late: many jobs install nothing.
    from smspec.rules.requirements import (
        missing_lists,
        requirement_findings,
        startup_findings,
        unseen_lists,
        unseen_settings,
    )

    found: list[Finding] = []
    if isinstance(image, BuiltImage) and has_packages:
        found += _OF_REQUIREMENTS.of(content, image, lambda: [*requirement_findings(image, content)])
    if installed is not None:
        too_large = [installed.path] if installed.size > LARGEST_REQUIREMENTS else startup.too_large if startup else ()
        found += unseen_settings(("environment",), job.spec.environment)
        if isinstance(image, BuiltImage):
            found += unseen_settings(("image", "env"), image.env)
        found += (requirements_too_large(SOURCE, f"`source`: {quoted(path)}") for path in too_large)
    if startup is not None and installed is not None:
        found += startup_findings(image, startup.content, SOURCE, startup.included)
        found += unseen_lists(SOURCE, startup.unseen)
        found += missing_lists(SOURCE, startup.missing)
    return found


def _unpinned(job: DecodedJob) -> Iterable[Finding]:
    """Return what a job does not pin, if its repository has a lockfile."""
    build_inputs, image = job.inputs.build_inputs, job.spec.image
    if build_inputs.lock is None or not isinstance(image, BuiltImage):
        return ()
    # Imported late: few repositories have one.
    from smspec.rules.locking import Pinning, unpinned

    environment = build_inputs.environment
    pinning = Pinning(
        image=image,
        lock=build_inputs.lock,
        requirements=build_inputs.requirements,
        requirements_name=build_inputs.requirements_name,
        packages=_locked_packages(image, build_inputs),
        locked_file="" if environment is None else environment_file(environment.key),
        fault="" if environment is None else environment.fault,
    )
    return unpinned(pinning)


def _unpinned_at_startup(job: DecodedJob) -> Iterable[Finding]:
    """Return what a job installs without a version when it starts, if its repository has a lockfile."""
    build_inputs = job.inputs.build_inputs
    if build_inputs.lock is None or build_inputs.startup is None or job.spec.source is None:
        return ()
    if startup_requirements(job.spec, build_inputs.source) is None:
        return ()
    # Imported late: few sources have a list of packages.
    from smspec.rules.requirements import StartupList, packages_unpinned_at_startup

    startup = build_inputs.startup
    environment = startup.environment
    return packages_unpinned_at_startup(
        StartupList(
            locked_file="" if environment is None else environment_file(environment.key),
            fault="" if environment is None else environment.fault,
            file=posixpath.normpath(posixpath.join(job.spec.source.dir, REQUIREMENTS)),
            content=startup.content,
            locked=startup.locked,
            is_built=isinstance(job.spec.image, BuiltImage),
        )
    )


def _is_lockable_at_start(job: DecodedJob, startup: StartupPackages) -> bool:
    """Return whether `smspec lock` can lock what a job installs at startup."""
    # Imported late: few sources have a list of packages.
    from smspec.plan.image_planning import obstacle_at_start

    build_inputs, image = job.inputs.build_inputs, job.spec.image
    return (
        isinstance(image, BuiltImage)
        and startup_requirements(job.spec, build_inputs.source) is not None
        and not obstacle_at_start(job.spec, build_inputs.source)
        and is_lockable(image, build_inputs.requirements, build_inputs.lock)
        and is_lockable(replace(image, secrets={}), startup.content, build_inputs.lock)
    )


def _locked_packages(image: BuiltImage, build_inputs: BuildInputs) -> LockedPackages:
    """Return whether the lock has the packages of an image."""
    if build_inputs.lock is None or not build_inputs.lock.environments:
        return "not locked"
    if build_inputs.environment is None:
        return "unknown"
    if build_inputs.environment.locked is not None:
        return "locked"
    return "missing" if is_lockable(image, build_inputs.requirements, build_inputs.lock) else "not locked"


def _policy(job: DecodedJob) -> Iterable[Finding]:
    """Yield where a job violates the policy of its organization, at the key in the spec."""
    policy = job.inputs.policy
    if policy is None:
        return
    # Imported late: few repositories have one.
    from smspec.service.policy_rules import policy_findings_in_spec
    from smspec.service.policy_rules.requirements import disallowed_base_registry, missing_required_base

    queue = job.plan.queue
    request = Request(
        payload=job.plan.request.payload,
        region=job.spec.region,
        in_spec_words=True,
        queue=None if queue is None else queue.name,
        priority=None if queue is None else queue.priority,
        attempts=None if queue is None else queue.attempts,
    )
    yield from policy_findings_in_spec(request, policy, job.plan.request.at_origin)
    yield from missing_required_base((text.name for text in job.inputs.document.texts), policy)
    if isinstance(job.spec.image, BuiltImage):
        yield from disallowed_base_registry(job.spec.image.base, policy)


def _local_data(job: DecodedJob) -> Iterable[Finding]:
    """Return where the local data does not fit the hosts, or is not there."""
    extents = job.inputs.local_data
    is_sharded = any(channel.distribution == "ShardedByS3Key" for channel in job.spec.channels)
    is_small = not is_sharded and sum(extent.bytes for extent in extents.values()) <= SMALLEST_VOLUME
    if is_small and not any(extent.is_absent for extent in extents.values()):
        return ()
    # Imported late: few specs have that much local data.
    from smspec.rules.data import data_findings

    return data_findings(job.spec, extents)


def _ambiguous_texts(job: DecodedJob) -> Iterable[Finding]:
    program = job.inputs.program
    return ambiguous_texts(job.inputs.document, program.texts if isinstance(program, Program) else ())


def _script(job: DecodedJob) -> Iterable[Finding]:
    """Return the mismatches between the script and its job, or why they are unknown."""
    program = job.inputs.program
    if program is None:
        return ()
    # Imported late: many jobs have no script that can be read.
    from smspec.plan.script_environment import plan_script_environment, replaced_script
    from smspec.rules.script import script_findings

    if isinstance(program, Program) and program.shows_nothing:
        return script_findings(program, replaced_script(job.spec, job.plan.request))
    return script_findings(program, plan_script_environment(job.spec, job.plan.request, _in_shell(job)))


def _in_shell(job: DecodedJob) -> StartedByCommand | None:
    """Return the command in a shell script of the source that starts the program."""
    if job.inputs.shell is None:
        return None
    from smspec.pipeline.foreign_scripts import started_in  # imported late: few scripts are of a shell

    return started_in(job.inputs.shell)


def _modules(job: DecodedJob) -> Iterable[Finding]:
    """Return what keeps the script from starting in its image."""
    reach = job.inputs.reach
    shell = job.inputs.shell_script
    if (reach is None and shell is None) or job.spec.entry_point is None:
        return ()
    launches = tuple(_launches(job))
    if isinstance(reach, Reach) and reach.is_sound and not launches and shell is None:
        return ()
    # Imported late: many jobs have no script that can be read.
    from smspec.rules.program import foreign_script_findings, program_findings
    from smspec.rules.program.program_and_image import ProgramAndImage

    findings = [] if shell is None else foreign_script_findings(shell, job.spec)
    build_inputs, image = job.inputs.build_inputs, job.spec.image
    startup = build_inputs.startup
    both = ProgramAndImage(
        reach=reach if isinstance(reach, Reach) else Reach(),
        launches=launches,
        python_in_shell="" if (in_shell := _in_shell(job)) is None else in_shell.by,
        job=job.spec,
        source=build_inputs.source,
        requirements=build_inputs.requirements,
        python=image_python(job.inputs.document, build_inputs.lock),
        environment=build_inputs.locked_environment,
        is_stale=isinstance(image, BuiltImage) and _locked_packages(image, build_inputs) in ("missing", "unknown"),
        is_lockable=isinstance(image, BuiltImage) and is_lockable(image, build_inputs.requirements, build_inputs.lock),
        listed=None if startup is None else startup.content,
        startup=None if startup is None else startup.locked,
        startup_is_lockable=startup is not None and _is_lockable_at_start(job, startup),
    )
    return [*findings, *program_findings(both)]


def _launches(job: DecodedJob) -> Iterable[StartedLauncher]:
    """Yield the launchers that every run of the job starts."""
    entry, program, shell = job.spec.entry_point, job.inputs.program, job.inputs.shell_script
    if isinstance(job.spec.distribution, Mpi | Torchrun):
        yield StartedLauncher(
            name="mpirun" if isinstance(job.spec.distribution, Mpi) else "torchrun", path=("distribution",)
        )
    if isinstance(entry, CommandEntry) and entry.command[0] in LAUNCHERS:
        yield StartedLauncher(name=entry.command[0], path=("entry_point", "command"))
    if isinstance(program, Program):
        yield from program.launches
    if shell is not None:
        from smspec.pipeline.foreign_scripts import launches_of  # imported late: few scripts are of a shell

        yield from launches_of(shell)


def _source_texts(job: DecodedJob) -> Iterable[Finding]:
    """Return where the job sets what no file of its source uses, or what a file spells differently."""
    if job.inputs.source_texts is None:
        return ()
    # Imported late: few jobs have keys that are compared with the source.
    from smspec.rules.source import source_text_findings

    program = job.inputs.program
    reached = program.texts if isinstance(program, Program) else ()
    return source_text_findings(job.spec, job.inputs.source_texts, reached)


SOURCES: tuple[Callable[[DecodedJob], Iterable[Finding]], ...] = (
    lambda job: job.inputs.findings,  # of the files that the spec names
    _ambiguous_texts,
    # A source that could not be listed is reported once, not for each file in it.
    lambda job: lint(job.spec, job.inputs.build_inputs.source, source_is_known=job.inputs.source_is_known),
    _secrets,
    lambda job: nulls_that_remove_nothing(job.inputs.document, job.plan.request.idle),
    _request,
    _image_name,
    _base_image,
    lambda job: dockerfile_findings(job.spec, job.inputs.build_inputs),
    _requirements,
    _unpinned,
    _unpinned_at_startup,
    _policy,
    lambda job: [found for rule in job.inputs.organization_rules for found in rule.check(job.document.root)],
    _script,
    _modules,
    _source_texts,
    _local_data,
)
"""All sources of findings about a job, in the order in which they run."""
