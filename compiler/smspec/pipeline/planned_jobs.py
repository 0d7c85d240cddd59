"""The jobs of a spec, one for each alternative of `hosts.any_of`: their plans, what is wrong in them, and their facts.

The facts of a compiled job, and of an unused base spec, are what other specs are compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from smspec.diagnostics import Finding, Note
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.job_findings import job_findings
from smspec.plan import ImagePlan, Plan, account, digest, with_image_uri
from smspec.plan.request_planning import make_plan
from smspec.service.job_costs import instance_counts
from smspec.service.shapes import items, member
from smspec.source import Document, Mapping, Path, dotted, to_data
from smspec.source import Sequence as Items
from smspec.source.frozen import ByIdentity, dataclass, replace
from smspec.spec.decoding import decode
from smspec.spec.layers import is_nameless_job
from smspec.spec.layers.merging import ANY_OF, Alternative, alternatives
from smspec.spec.model import CommandEntry, EntryPoint, JobSpec, ModuleEntry, PipeLoopEntry, ScriptEntry
from smspec.spec.repository_facts import BaseFacts, IgnoredFact, JobFacts, Stated

if TYPE_CHECKING:
    from smspec.service.image_names import NamedImage

_DIGESTS: ByIdentity[str] = ByIdentity()  # the variants of a job share them
_IGNORE: Path = ("checks", "ignore")
_IN_S3 = ("DataSource", "S3DataSource", "S3Uri")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """``alternative`` None: the spec has one set of hosts. ``named``: what the short name of the image stands for."""

    job: JobSpec
    plan: Plan
    named: NamedImage | None
    alternative: Alternative | None = None


def planned_jobs(inputs: Inputs, data: object = None) -> tuple[PlannedJob, ...]:
    """Return the jobs of a spec that has its shape, at least one, in the order of the alternatives.

    ``data``: what `viewed` returns for the document, if that is known.
    """
    found = alternatives(inputs.document)
    if not found:
        job, named = with_image_uri(decode(inputs.document, data), inputs.build_inputs.lock)
        return (PlannedJob(job=job, plan=make_plan(job, inputs.build_inputs), named=named),)
    first, *others = (_planned(inputs, alternative) for alternative in found)
    plan = replace(first.plan, others=tuple(other.plan.request for other in others))
    return (replace(first, plan=plan), *others)


def findings_of(inputs: Inputs, jobs: tuple[PlannedJob, ...]) -> list[Finding]:
    """Return the findings about all jobs, once each; a finding about some alternatives names them."""
    if jobs[0].alternative is None:
        return [*job_findings(inputs, jobs[0].job, jobs[0].plan, jobs[0].named), *_about_the_queue(jobs)]
    among: dict[Finding, list[Alternative]] = {}
    for each in jobs:
        assert each.alternative is not None
        for finding in job_findings(inputs, each.job, each.plan, each.named, each.alternative.document):
            among.setdefault(_as_written(finding, each.alternative), []).append(each.alternative)
    found = [_naming(finding, those, len(jobs)) for finding, those in among.items()]
    return [*found, *_about_all(jobs), *_about_the_queue(jobs)]


def _planned(inputs: Inputs, alternative: Alternative) -> PlannedJob:
    job, named = with_image_uri(decode(alternative.document), inputs.build_inputs.lock)
    plan = make_plan(job, inputs.build_inputs)
    origins = {path: alternative.written(origin) for path, origin in plan.request.origins.items()}
    plan = replace(plan, request=replace(plan.request, origins=origins))
    return PlannedJob(job=job, plan=plan, named=named, alternative=alternative)


def _as_written(finding: Finding, alternative: Alternative) -> Finding:
    path = alternative.written(finding.path)
    there = finding if path == finding.path else finding.renamed(path)
    return replace(there, cause=alternative.written(finding.cause))


def _naming(finding: Finding, those: list[Alternative], of: int) -> Finding:
    """Return a finding with a note on the alternatives that it is about, unless its path shows them or it is in all."""
    if len(those) == of or finding.path[: len(ANY_OF)] == ANY_OF:
        return finding
    names = ", ".join(f"`{dotted(alternative.path)}`" for alternative in those)
    return replace(finding, notes=(*finding.notes, Note(f"only with {names}")))


def _about_all(jobs: tuple[PlannedJob, ...]) -> Iterator[Finding]:
    # Imported late: few specs have alternatives.
    from smspec.rules.alternatives import NamedAlternatives, alternative_findings

    first = jobs[0]
    request = first.plan.request
    is_named = first.job.job_name is not None or "TrainingJobName" in first.job.api
    yield from alternative_findings(
        NamedAlternatives(
            names=tuple(str(each.plan.request.payload.get("TrainingJobName")) for each in jobs),
            paths=tuple(each.alternative.path for each in jobs if each.alternative is not None),
            named_at=request.origin(("TrainingJobName",)) if is_named else (),
        )
    )


def _about_the_queue(jobs: tuple[PlannedJob, ...]) -> list[Finding]:
    """Return what AWS Batch would reject of a job that a queue starts."""
    queue, payload = jobs[0].plan.queue, jobs[0].plan.request.payload
    if queue is None:
        return []
    # Imported late: few jobs have a queue.
    from smspec.render.batch import sent_bytes, service_job
    from smspec.rules.queues import QueuedJob, queue_findings
    from smspec.service.request import Request

    request = Request(payload=payload, region=jobs[0].job.region)
    region = request.region or (request.image.region if request.image else None)
    whole, inner = sent_bytes(service_job(payload, queue))
    return queue_findings(
        QueuedJob(
            queue=queue,
            region=region or "",
            account=request.role.account if request.role else "",
            alternatives=len(jobs),
            payload=inner,
            request=whole,
        )
    )


def job_facts(
    job: JobSpec, plan: Plan, document: Document, overlay: str | None, requirements: bytes | None = None
) -> JobFacts:
    """Return the facts of a job; names and prefixes are those of the request, so changes by `api` count.

    ``requirements``: the content of the author's file of Python packages.
    """
    request = plan.request

    def stated(*path: str | int) -> Stated | None:
        text: object = request.payload
        for step in path:
            text = items(text)[step] if isinstance(step, int) else member(text, step)
        if not isinstance(text, str) or not text:
            return None
        origin = request.origin(path)
        return Stated(text, origin, document.span_of_value(origin))

    name = Stated(job.name, ("name",), document.span_of_value(("name",)))
    checkpoints = stated("CheckpointConfig", "S3Uri")
    channels = items(request.payload, "InputDataConfig")
    found = ((str(member(c, "ChannelName")), stated("InputDataConfig", i, *_IN_S3)) for i, c in enumerate(channels))
    return JobFacts(
        file=document.texts[0].name,
        overlay=overlay,
        name=name,
        job_name=stated("TrainingJobName") or name,
        alternatives=tuple(str(each.payload.get("TrainingJobName")) for each in plan.others),
        names_itself=job.job_name is not None or "TrainingJobName" in job.api,
        region=job.region,
        account=account(job) or None,
        output=stated("OutputDataConfig", "S3OutputPath"),
        checkpoints=checkpoints,
        tensorboard=stated("TensorBoardOutputConfig", "S3OutputPath"),
        channels=tuple((channel, data) for channel, data in found if data),
        manifests=frozenset(_manifests(channels)),
        training=tuple(_training(job)) if checkpoints else (),
        ignored=_ignored(document),
        instances=tuple(instance_counts(request.payload).items()),
        description=job.description,
        unpinned=plan.image.base if plan.image and "@" not in plan.image.base else None,
        loose=_loose(plan.image, requirements) if plan.image else (),
    )


def _loose(image: ImagePlan, requirements: bytes | None) -> tuple[str, ...]:
    """Return the packages of an image that no exact version pins; the lock pins all of them or none."""
    if image.environment is not None or not (image.listed_packages or requirements):
        return ()
    # Imported late: many images have no packages.
    from smspec.spec.packages import is_exact, loose_lines

    listed = [package for package in image.listed_packages if not is_exact(package)]
    return (*listed, *(package for _, package in loose_lines(requirements)))


def _manifests(channels: Iterable[object]) -> Iterator[str]:
    """Yield the names of channels whose address is the key of one object."""
    for channel in channels:
        if member(channel, *_IN_S3[:-1], "S3DataType") not in (None, "S3Prefix"):
            yield str(member(channel, "ChannelName"))


def base_facts(document: Document) -> BaseFacts:
    """Return the facts of a base spec that no spec extends."""
    return BaseFacts(
        file=document.texts[0].name,
        version=document.span_of_key(("smspec",)),
        lacks_only_a_name=is_nameless_job(document),
        ignored=_ignored(document),
    )


def _training(job: JobSpec) -> Iterator[tuple[str, str]]:
    """Yield what identifies a training: what runs, with which parameters, on which data; not its hosts and limits."""
    yield "source", job.source.dir if job.source else ""
    yield "entry_point", _program(job.entry_point)
    sent, channels = job.hyperparameters, job.channels
    yield "hyperparameters", _DIGESTS.of("", sent, lambda: digest([[known.name, known.value] for known in sent]))
    data = ([c.name, c.s3, c.file_system and c.file_system.path] for c in channels)
    yield "channels", _DIGESTS.of("", channels, lambda: digest([*data]))


def _program(entry: EntryPoint | None) -> str:
    if isinstance(entry, ScriptEntry):
        return entry.script
    if isinstance(entry, CommandEntry):
        return digest(entry.command)
    if isinstance(entry, ModuleEntry):
        return entry.module
    return entry.pipe_loop if isinstance(entry, PipeLoopEntry) else ""


def _ignored(document: Document) -> tuple[IgnoredFact, ...]:
    node = document.node(_IGNORE)
    entries = node.items if isinstance(node, Items) else ()
    return tuple(
        IgnoredFact(rule=str(data.get("rule")), at=str(data.get("at") or ""), index=index, span=entry.span)
        for index, entry in enumerate(entries)
        # A base spec is not checked as a job: use only what has the shape of an entry.
        if isinstance(entry, Mapping) and isinstance(data := to_data(entry), dict) and data.get("because")
    )
