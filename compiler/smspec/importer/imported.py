"""The result of reading a source: a request, and the parts of the source that do not belong to it."""

from __future__ import annotations

from smspec.importer.code import LocalCode
from smspec.source import Path
from smspec.source.frozen import dataclass, field
from smspec.source.node import dotted

NO_JOB = (
    "no training job found: expected a CreateTrainingJob request, DescribeTrainingJob output, a tuning job,"
    " a TrainingJob in Kubernetes, a Step Functions state machine, a SageMaker pipeline, a CloudFormation template,"
    " a plan or state of Terraform as JSON, a service job of AWS Batch,"
    " or a notebook or Python program that uses the SageMaker SDK"
)
"""What to say of a file with none of these."""


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
