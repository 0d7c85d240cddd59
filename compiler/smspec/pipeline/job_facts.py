"""Extract the facts of a compiled job, and of an unused base spec, that other specs are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smspec.plan.naming import account, digest
from smspec.plan.plan import Plan
from smspec.service.job_costs import instance_counts
from smspec.service.members import items, member
from smspec.source import Document, Mapping, Path, to_data
from smspec.source import Sequence as Items
from smspec.source.by_identity import ByIdentity
from smspec.spec.layers.assembly import is_nameless_job
from smspec.spec.model import CommandEntry, EntryPoint, JobSpec, ModuleEntry, PipeLoopEntry, ScriptEntry
from smspec.spec.repository_facts import BaseFacts, IgnoredFact, JobFacts, Stated

_DIGESTS: ByIdentity[str] = ByIdentity()  # the variants of a job share them
_IGNORE: Path = ("checks", "ignore")
_IN_S3 = ("DataSource", "S3DataSource", "S3Uri")


def job_facts(job: JobSpec, plan: Plan, document: Document, overlay: str | None) -> JobFacts:
    """Return the facts of a job; names and prefixes are those of the request, so changes by `api` count."""
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
        manifests=frozenset(
            str(member(c, "ChannelName"))
            for c in channels
            if member(c, *_IN_S3[:-1], "S3DataType") not in (None, "S3Prefix")
        ),
        training=tuple(_training(job)) if checkpoints else (),
        ignored=_ignored(document),
        instances=tuple(instance_counts(request.payload).items()),
        description=job.description,
        unpinned=plan.image.base if plan.image and "@" not in plan.image.base else None,
    )


def _manifests(channels: Iterable[object]) -> Iterator[str]:
    """Yield the names of channels whose address is the key of one object."""
    for channel in channels:
        if member(channel, "DataSource", "S3DataSource", "S3DataType") not in (None, "S3Prefix"):
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
