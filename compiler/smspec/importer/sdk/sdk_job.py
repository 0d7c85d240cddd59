"""Choose a job of a notebook or program, and return it as an import: the request, keys, and variables."""

from __future__ import annotations

import json

from smspec.importer.imported import Imported, LocalCode, NotImported, RequestNotFound
from smspec.importer.sdk.call_requests import CALL, RequestOfCall
from smspec.importer.sdk.callables import SubclassInstance
from smspec.importer.sdk.following import Following
from smspec.importer.sdk.notebook import NotebookProgram, read_program
from smspec.importer.sdk.replacements import is_about
from smspec.importer.sdk.requests import RequestOfJob
from smspec.importer.sdk.sdk_facts import TRAINERS, why_not_imported
from smspec.importer.sdk.sdk_request import Job, SdkRequest
from smspec.importer.sdk.trainer_requests import RequestOfTrainer
from smspec.importer.sdk.variables import Variables
from smspec.source.frozen import dataclass

CALLED = "call"
"""What to call something that a program calls without a name."""

_MOST_LISTED = 20
_MOST_UNREADABLE = 3


@dataclass(frozen=True, slots=True)
class ReadProgram:
    """The jobs of a program, and what following it has found."""

    program: NotebookProgram
    following: Following
    jobs: tuple[Job, ...]


def found_jobs(name: str, content: bytes) -> ReadProgram:
    """Return the jobs of a notebook or program; raise `RequestNotFound` if it cannot be read."""
    program = read_program(name, content)
    following = Following(program)
    return ReadProgram(program, following, tuple(following.found.jobs()))


def imported_job(found: ReadProgram, choice: str | None) -> Imported:
    """Return one of the jobs; raise `RequestNotFound` if there is none, or the choice is open."""
    job = _chosen(found, choice)
    why = _not_followed(found, job)
    if why:
        raise RequestNotFound(
            f"{why}, which smspec does not follow, and which may change any argument; start it once, then import the"
            " job by its name"
        )
    variables = Variables()
    made = _reader(job)(job, found.following.surroundings, variables).made()
    request, keys = made.request, dict[str, object]()
    others = _others(found) if choice in (None, "1") else ()
    lost = [*made.not_imported, *_doubted(found), *others]
    if made.source is not None and made.source.archive is not None:
        sent = {"sagemaker_submit_directory": made.source.archive, "sagemaker_program": made.source.script}
        _add(request, {name: json.dumps(value) for name, value in sent.items()})
        _add(request, made.switches)
        if made.launch.key is not None:
            lost.append(NotImported(("distribution",), "the archive in S3 has no `source` for it"))
    elif made.source is not None:
        keys = _keys(made)
    patch: dict[str, object] = {"HyperParameters": made.switches} if made.switches and keys else {}
    region = made.region if isinstance(made.region, str) else None
    return Imported(
        form=_form(found, job),
        request=request,
        not_imported=tuple(lost),
        region=region,
        stem=made.stem,
        keys=keys | ({"queue": made.queue} if made.queue else {}),
        patch=patch,
        variables=tuple(variables.declared.values()),
        additions=made.additions,
        code=_code(made, found.program) if keys else None,
    )


def _not_followed(found: ReadProgram, job: Job) -> str:
    """Return what may change any argument of a job, with its line; empty if there is nothing."""
    if job.estimator.replaced:
        return job.estimator.replaced
    for place, what in found.following.found.replaced.items():
        if is_about(what, job.estimator.kind):
            return f"{place}: the program replaces `{what}`"
    return job.estimator.made_by.not_followed() if isinstance(job.estimator, SubclassInstance) else ""


def _reader(job: Job) -> type[RequestOfTrainer | RequestOfCall | RequestOfJob]:
    if job.class_name == CALL:
        return RequestOfCall
    return RequestOfTrainer if job.class_name in TRAINERS else RequestOfJob


def _code(made: SdkRequest, program: NotebookProgram) -> LocalCode | None:
    source = made.source
    if source is None:
        return None
    return LocalCode(
        directory=source.directory,
        script=source.script,
        is_alone=source.is_alone,
        ignore=source.ignore,
        dependencies=made.dependencies,
        written=program.files,
    )


def _add(request: dict[str, object], values: dict[str, object]) -> None:
    parameters = request.setdefault("HyperParameters", {})
    if isinstance(parameters, dict):
        parameters.update(values)


def _keys(made: SdkRequest) -> dict[str, object]:
    source = made.source
    if source is None:
        return {}
    is_isolated = made.request.get("EnableNetworkIsolation") is True  # the toolkit cannot download an archive then
    directory: dict[str, object] = {"dir": source.directory, "delivery": "channel" if is_isolated else made.delivery}
    if source.ignored:
        directory["ignore"] = source.ignored
    keys: dict[str, object] = {"source": directory, "entry_point": source.script}
    if made.launch.key is not None:
        keys["distribution"] = made.launch.key
    return keys


def _others(found: ReadProgram) -> tuple[NotImported, ...]:
    """Return the jobs of the program that other classes of the SDK start, or calls of which nothing is known."""
    following = found.following
    classes = [
        NotImported(
            (kind.removesuffix(".from_jumpstart_config").rpartition(".")[2],), f"{place}: {why_not_imported(kind)}"
        )
        for place, kind in following.found.others.items()
    ]
    when = f"known only when {_kind(found)} runs; start it once, then import the job by its name"
    calls = [
        NotImported((CALL,), f"{place}: {why or f'what it sends is {when}'}")
        for place, why in following.found.unknown_calls.items()
    ]
    makers = [
        NotImported(_words(name), f"{place}: what it makes is {when}") for place, name in following.found.makers.items()
    ]
    return (*classes, *calls, *makers)


def _doubted(found: ReadProgram) -> list[NotImported]:
    """Return where other code may have set names; what these are is unknown from there on."""
    places = list(found.following.found.elsewhere.items())
    if not places:
        return []
    place, text = places[0]
    more = f", and {len(places) - 1} more" if places[1:] else ""
    return [NotImported(("names",), f"{place}{more}: `{text}` may set names, so those before it are variables")]


def _unknown_starts(found: ReadProgram) -> list[NotImported]:
    """Return calls that may start a job of an object that something else makes."""
    is_of_the_sdk = any("sagemaker" in cell.code for cell in found.program.cells)
    when = (
        f"whether it starts a training job is known only when {_kind(found)} runs; start it once, then import the job"
    )
    starts = found.following.found.starts.items() if is_of_the_sdk else ()
    return [NotImported(_words(name), f"{place}: {when} by its name") for place, name in starts]


def _words(name: str) -> tuple[str, ...]:
    words = tuple(name.split("."))
    return words if all(map(str.isidentifier, words)) else (CALLED,)


def _form(found: ReadProgram, job: Job) -> str:
    kind = "a notebook" if found.program.is_notebook else "a program"
    return f"{kind}: `{job.name}`, {job.class_name}, {job.place}"


def _chosen(found: ReadProgram, choice: str | None) -> Job:
    jobs = found.jobs
    if not jobs:
        rest = "" if found.following.is_complete else "; the program is too long to read completely"
        unreadable = found.following.unreadable
        if unreadable and not found.program.is_notebook:
            raise RequestNotFound(f"the program cannot be read: {unreadable[0]}")
        if unreadable:
            more = f"; and {len(unreadable) - _MOST_UNREADABLE} more" if len(unreadable) > _MOST_UNREADABLE else ""
            rest += f"; cells that cannot be read: {'; '.join(unreadable[:_MOST_UNREADABLE])}{more}"
        others = _others(found) or _unknown_starts(found)
        if others:
            raise RequestNotFound(f"{others[0]}{f'; and {len(others) - 1} more' if others[1:] else ''}{rest}")
        raise RequestNotFound(
            f"no estimator or trainer of the SageMaker SDK, and no call of `{CALL}`, in {_kind(found)}{rest}"
        )
    numbered = [job for index, job in enumerate(jobs, start=1) if choice == str(index)]
    fitting = numbered or [job for job in jobs if choice in (None, job.name)]
    if len(fitting) == 1:
        return fitting[0]
    listed = [f"{index} {_described(job)}" for index, job in enumerate(jobs[:_MOST_LISTED], start=1)]
    if len(jobs) > _MOST_LISTED:
        listed.append(f"and {len(jobs) - _MOST_LISTED} more")
    why = f"`{choice}` is {len(fitting) or 'none'} of them" if choice else "choose one with --job, by number or name"
    count = f"{len(jobs)} training jobs" if len(jobs) > 1 else "1 training job"
    raise RequestNotFound(f"{count} found; {why}: {'; '.join(listed)}")


def _described(job: Job) -> str:
    part_of = f", {job.part_of}" if job.part_of else ""
    return f"`{job.name}` ({job.class_name}, {job.place}{part_of})"


def _kind(found: ReadProgram) -> str:
    return "the notebook" if found.program.is_notebook else "the program"
