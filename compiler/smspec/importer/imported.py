"""The result of reading a source: a request, the names of its job, and what does not belong to the request."""

from __future__ import annotations

import re
from collections.abc import Mapping

from smspec.plan import training_job_name
from smspec.service.shapes import items, member
from smspec.source import Path, dotted
from smspec.source.frozen import dataclass, field

DEPENDENCIES = ("dependencies",)
"""The path of the argument in what is not imported."""

LONGEST = 48
UNNAMED = "imported"

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MOMENT = r"(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9](?:[-t]?[0-2][0-9]-?[0-5][0-9](?:-?[0-5][0-9](?:-?[0-9]{3})?)?)?"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# A date, seconds since 1970, or a digest: the part that makes the name of each job unique.
_ENDINGS = re.compile(rf"-?{_MOMENT}$|-{_UUID}$|-[0-9]{{9,13}}$|-(?=[a-f]*[0-9])[0-9a-f]{{7,40}}$")

NO_JOB = (
    "no training job found: expected a CreateTrainingJob request, DescribeTrainingJob output, a tuning job,"
    " a TrainingJob in Kubernetes, a Step Functions state machine, a SageMaker pipeline, a CloudFormation template,"
    " a plan or state of Terraform as JSON, a service job of AWS Batch,"
    " or a notebook or Python program that uses the SageMaker SDK"
)
"""What to say of a file with none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCode:
    """Files of ``directory``, relative to the program, but those of ``ignore``; if ``is_alone``, only ``script``.

    ``dependencies``: files and directories that the SDK adds to them. ``written``: path → text of files that cells of a
    notebook write. Paths may contain marks of variables.
    """

    directory: str
    script: str
    is_alone: bool
    ignore: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)


class RequestNotFound(Exception):
    """There is no training job in the source; the text explains why."""


@dataclass(frozen=True, slots=True)
class NotImported:
    """A part of the source that the spec does not contain, and why. ``path`` uses the names of the source."""

    path: Path
    why: str

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.why}"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the spec. ``placeholder``: a value of the right kind, to compile and check the spec.

    ``default``: the value that the source declares, which is also the placeholder; None if it declares none.
    """

    name: str
    placeholder: object
    description: str
    default: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A CreateTrainingJob request and its source.

    ``form`` describes the source. ``left_out`` are members that are not part of any request: they are listed in one
    line. ``stem`` is used to name the job if the request has no name. ``has_tags`` False: the source does not contain
    the tags of the job.

    ``keys`` are keys of the spec that say more than the request, and ``patch`` members for `api`; the request has
    neither. ``variables`` are what the marks in all of them stand for. ``additions``: what the source does not write,
    and its tool sends. ``code``: the files of the job's script, if the keys of the spec name their directory.
    ``alternatives``: the requests of the later alternatives of the hosts, in order.
    """

    form: str
    request: dict[str, object]
    not_imported: tuple[NotImported, ...] = ()
    left_out: tuple[str, ...] = ()
    region: str | None = None
    stem: str = ""
    has_tags: bool = True
    keys: dict[str, object] = field(default_factory=dict)
    patch: dict[str, object] = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    additions: tuple[str, ...] = ()
    code: LocalCode | None = None
    alternatives: tuple[dict[str, object], ...] = ()


def without_tags(request: dict[str, object], prefix: str) -> dict[str, object]:
    """Return a request without the tags whose keys have a prefix; itself if it has none."""
    kept = [tag for tag in items(request, "Tags") if not str(member(tag, "Key")).startswith(prefix)]
    if len(kept) == len(items(request, "Tags")):
        return request
    return {name: kept if name == "Tags" else value for name, value in request.items() if kept or name != "Tags"}


def add_tags(request: dict[str, object], tags: Mapping[str, str]) -> None:
    """Add tags to a request, which keeps those that it has, as the SageMaker Python SDK merges them."""
    there = items(request, "Tags")
    known = {member(each, "Key") for each in there}
    added = [{"Key": key, "Value": text} for key, text in tags.items() if key not in known]
    if added:
        request["Tags"] = [*there, *added]


def names(job_name: str | None, stem: str, request: dict[str, object]) -> dict[str, str]:
    """Return the keys that name a job; `job_name` only if its name differs from the one that the spec would give it."""
    if job_name is None:
        return {"name": slug(stem)}
    own = job_name[:-11]
    is_name = len(own) <= LONGEST and _NAME.fullmatch(own) is not None
    if is_name and training_job_name(own, request) == job_name:
        return {"name": own}
    return {"name": slug(job_name), "job_name": job_name}


def slug(text: str) -> str:
    """Return a name converted to the characters of a spec's name, without its unique suffix."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    while (ending := _ENDINGS.search(words)) and ending.start() > 0:
        words = words[: ending.start()].strip("-")
    return words[:LONGEST].strip("-") or UNNAMED
