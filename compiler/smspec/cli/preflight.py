"""What ``smspec submit`` asks AWS before it creates anything: all rows of the table, at once, for a person or JSON."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from smspec.cli.aws_arguments import spec_words
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable
from smspec.cli.image_arguments import JobBuild, published_image
from smspec.cli.job_follower import SubmissionState
from smspec.cli.submission import Submission, uploads
from smspec.cli.submission_plan import LocalData, left_alone, local_data, uploadable
from smspec.cli.waiting import Waiting
from smspec.diagnostics import count
from smspec.diagnostics.quoting import visible
from smspec.local.record.units import screen
from smspec.publishing.publication import UnusableImage
from smspec.service.request import DIGEST_TAG
from smspec.source.frozen import dataclass, field, replace
from smspec.submission.client import ActionDenied, AwsUnavailable, JobRefused
from smspec.submission.job_service import JobService, stale_tags
from smspec.submission.preflight import Subject, questions
from smspec.submission.preflight.account import CALLER, caller_question
from smspec.submission.preflight.asking import (
    MOST_THREADS,
    SPEC_AT_FAULT,
    SURROUNDINGS_AT_FAULT,
    Answer,
    AwsQuestion,
    CheckRow,
    NotChecked,
    PreflightCalls,
    answers,
    ok,
    seconds_of_a_call,
    seconds_of_questions,
    wrong,
)
from smspec.submission.s3_service import RegionalS3
from smspec.submission.uploading import UploadState, deliveries

NEEDED_SECONDS = 120.0
"""How long a submission waits for what it cannot do without, such as whether its job exists."""

REGISTRY_SECONDS = 10.0
"""How long a registry is asked that does not answer: its name may not exist."""

_CREATED = SubmissionState(index=0, job=None, is_created=True)
"""What a dry run goes on with if SageMaker cannot be asked."""

Found = TypeVar("Found")

_STATES = {"ok": "32", "wrong": "1;31", "not checked": "33"}
_WIDEST_STATE = max(map(len, _STATES))
_MOST_NAMED = 3


class Needed(Generic[Found]):
    """A question whose answer the submission needs for what follows, and not only for the table."""

    def __init__(self, kind: str, waits_for: str, find: Callable[[], Found], rows: Callable[[Found], Answer]) -> None:
        self._kind = kind
        self._waits_for = waits_for
        self._find = find
        self._rows = rows
        self.found: Found | None = None
        self._fault: Exception | None = None

    def question(self, seconds: float | None) -> AwsQuestion:
        """Return the question; ``seconds``: how long the submission waits for the answer."""
        return AwsQuestion(kind=self._kind, name="", waits_for=self._waits_for, ask=self._ask, seconds=seconds)

    def value(self) -> Found:
        """Return the answer. Raise what prevented it."""
        if self._fault is not None:
            raise self._fault
        if self.found is None:
            raise AwsUnavailable(f"no answer from {self._waits_for}; submit the spec again later")
        return self.found

    def _ask(self) -> Answer:
        try:
            found = self._find()
            answer = self._rows(found)
        except UnusableImage as fault:
            return wrong(self._kind, "", str(fault), SURROUNDINGS_AT_FAULT)
        except (CommandRefused, JobRefused) as refused:
            return wrong(self._kind, "", str(refused))
        except (AwsUnavailable, ResourceUnavailable) as fault:
            self._fault = fault
            raise NotChecked(str(fault), fault.action if isinstance(fault, ActionDenied) else "") from None
        self.found = found
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What exists before a submission. ``deliveries``: the source that S3 has, and lacks. ``files``: data to upload."""

    state: SubmissionState
    deliveries: tuple[UploadState, ...] = ()
    files: LocalData = field(default_factory=dict)


def checked(
    build: JobBuild,
    sent: Sequence[Submission],
    service: JobService,
    store: RegionalS3,
    find_state: Callable[[], SubmissionState],
    waiting: Waiting,
    args: argparse.Namespace,
    console: Console,
) -> Checked:
    """Ask AWS for all that a job needs, and show the table; raise if a row is wrong, so that nothing is created.

    ``find_state``: asks SageMaker whether the job exists. One that exists needs nothing more.
    """
    preflight = _Preflight(build, sent, args.profile, service.region, is_dry_run=args.dry_run)
    job = Needed("job", f"SageMaker in {service.region}", find_state, lambda state: _job(state, service, sent))
    image = image_look(build, args.profile, builds=not args.no_build)
    source = source_look(build, store)
    files: LocalData | None = None
    preflight.ask_who_calls(waiting, job)
    # A dry run shows what else is known if SageMaker cannot be asked.
    if preflight.has_caller and (job.found.is_created if job.found else args.dry_run and not preflight.is_wrong):
        files = local_data(build.job, console.say) if args.upload_data else None
        preflight.ask_the_rest(waiting, [each for each in (image, source) if each is not None], files)
    for line in table_lines(preflight.rows, console):
        if args.dry_run or console.verbosity >= 0:
            console.paint(f"{line}\n")
    if any(row.action for row in preflight.rows if row.state == "not checked"):
        policy = f"smspec render {spec_words(args)} --iam-policy=submitter"
        console.remark(f"`{policy}` has the permissions of what is not checked")
    if args.dry_run:
        print_checks(sent[0], preflight.rows, args, console)
    fault, exit_status = faults(preflight.rows)
    if fault:
        raise (CommandRefused if exit_status == SPEC_AT_FAULT else ResourceUnavailable)(fault)
    if args.dry_run:
        return Checked(state=job.found or _CREATED, files=files or {})
    state = job.value()
    if not state.is_created:
        return Checked(state=state)
    if image is not None:
        image.value()
    return Checked(state=state, deliveries=source.value() if source is not None else (), files=files or {})


def print_checks(sent: Submission, rows: Sequence[CheckRow], args: argparse.Namespace, console: Console) -> None:
    """Print the table of a dry run as JSON, if that is the format."""
    if args.format == "json":
        console.content(f"{json.dumps({'job': sent.name, 'checks': records(rows)}, indent=2)}\n")


def _job(state: SubmissionState, service: JobService, sent: Sequence[Submission]) -> Answer:
    submission = sent[state.index]
    if state.job is None:
        return ok("job", submission.name, f"does not exist yet in {service.region}")
    stale = stale_tags(service, state.job, submission.tags)
    if not submission.name_is_derived and DIGEST_TAG in stale:
        stale = {}  # the job of a different request is left alone
    changed = f", with {count(len(stale), 'tag')} to change: {', '.join(stale)}" if stale else ""
    return ok("job", state.job.name, f"exists, {state.job.status}{changed}")


class _Preflight:
    """The questions about one job, with the rows that have been answered. Its methods raise `AwsUnavailable`."""

    def __init__(
        self, build: JobBuild, sent: Sequence[Submission], profile: str | None, region: str, *, is_dry_run: bool
    ) -> None:
        self._build = build
        self._payloads = tuple(each.request for each in sent)
        self._seconds = seconds_of_questions()
        self._seconds_of_needed = None if is_dry_run else max(NEEDED_SECONDS, self._seconds)
        self._calls = PreflightCalls(profile, region, seconds=seconds_of_a_call())
        self._looks = RegionalS3(profile, region, budget=0.0, seconds=seconds_of_a_call(), connections=MOST_THREADS)
        self.rows: list[CheckRow] = []

    def ask_who_calls(self, waiting: Waiting, job: Needed[SubmissionState]) -> None:
        """Ask for the caller, and whether the job exists."""
        caller = caller_question(self._calls, self._payloads[0])
        self._ask((caller, job.question(self._seconds_of_needed)), waiting)

    @property
    def has_caller(self) -> bool:
        """Whether AWS accepts the caller: if not, no other question has an answer."""
        return not any(row.kind == CALLER and row.state == "wrong" for row in self.rows)

    @property
    def is_wrong(self) -> bool:
        return any(row.state == "wrong" for row in self.rows)

    def ask_the_rest(self, waiting: Waiting, needed: Sequence[Needed[Any]], files: LocalData | None) -> None:
        """Ask for all that the job uses. ``files``: of the channels whose data are uploaded; None if none are."""
        plan, job = self._build.job.plan, self._build.job.job
        subject = Subject(
            payloads=self._payloads,
            uploads={upload.uri: upload.kind for upload in plan.uploads},
            uploaded=tuple(files or ()),
            source_key=plan.source_key,
            secrets=job.secrets,
            builds=plan.image is not None,
            queue=plan.queue,
        )
        caller = next((row.name for row in self.rows if row.kind == CALLER), "")
        account = caller.split(":")[4] if caller.count(":") >= 5 else ""
        first = [each.question(self._seconds_of_needed) for each in needed]
        self._ask((*first, *questions(self._calls, self._looks, subject, account)), waiting)
        self.rows = [self._with_help(row, is_uploading=files is not None) for row in self.rows]

    def _ask(self, asked: Sequence[AwsQuestion], waiting: Waiting) -> None:
        waiting.start()
        try:
            self.rows += answers(asked, self._seconds, waiting.show)
        finally:
            waiting.end()

    def _with_help(self, row: CheckRow, *, is_uploading: bool) -> CheckRow:
        """Add to a channel without data how to upload them."""
        if row.kind != "channel" or row.state != "wrong":
            return row
        reason = left_alone(self._build.job).get(row.name) if is_uploading else None
        if reason:
            return replace(row, text=f"{row.text}; --upload-data leaves it alone: {reason}")
        if not is_uploading and row.name in uploadable(self._build.job):
            return replace(row, text=f"{row.text}; --upload-data uploads the data at its `local`")
        return row


def image_look(build: JobBuild, profile: str | None, *, builds: bool) -> Needed[bool] | None:
    """Return the question whether the registry has the image that the submission builds; None if it builds none."""
    image = build.job.plan.image
    if image is None:
        return None

    def rows(is_there: bool) -> Answer:
        if is_there:
            return ok("image", "", "is in its registry")
        if builds:
            return ok("image", "", "is built and pushed")
        help = "submit without --no-build, or run `smspec build --push` before"
        return wrong("image", image.uri, f"is not in its registry; {help}")

    asks = f"the registry of `{image.uri}`"
    return Needed("image", asks, lambda: published_image(build, profile, patience=REGISTRY_SECONDS) is not None, rows)


def source_look(build: JobBuild, store: RegionalS3) -> Needed[tuple[UploadState, ...]] | None:
    """Return the question which files of the source S3 has; None if the job reads no source from S3."""
    kinds = {upload.uri.rpartition("/")[0] + "/": upload.kind for upload in build.job.plan.uploads}
    if not kinds:
        return None
    files = uploads(build.tree, build.job.plan.source_key)

    return Needed(
        "source",
        "S3 about the source",
        lambda: tuple(deliveries(store, kinds, files)),
        lambda found: Answer(rows=tuple(_delivered(found, kinds))),
    )


def _delivered(found: Sequence[UploadState], kinds: Mapping[str, str]) -> Iterator[CheckRow]:
    for each in found:
        kind = kinds.get(each.prefix, "source")
        # A job reads all objects below the prefix of a channel.
        for objects, text in ((each.differing, "is not the file of the spec"), (each.others, "is not of the spec")):
            if objects:
                more = f" (and {len(objects) - 1} more)" if len(objects) > 1 else ""
                text = f"`{objects[0]}`{more} in S3 {text}, so other code would run: remove it"
                yield CheckRow(kind=kind, name="", state="wrong", text=text, exit_status=SURROUNDINGS_AT_FAULT)
        if not each.differing and not each.others:
            lacking = f"{len(each.missing)} of {count(len(each.files), 'file')} to upload"
            yield CheckRow(
                kind=kind, name="", state="ok", text=lacking if each.missing else "is in S3, with this content"
            )


def table_lines(rows: Sequence[CheckRow], console: Console) -> Iterator[str]:
    """Yield the rows in columns. On a terminal, they fit its width; a log gets one line for each, to search in."""
    kinds = max((len(row.kind) for row in rows), default=0)
    indent = _WIDEST_STATE + kinds + 4
    width = max(20, screen()[0] - 1 - indent) if console.err_is_terminal else 0
    for row in rows:
        text = visible(sentence(row))
        lines = textwrap.wrap(text, width, break_on_hyphens=False) if width else [text]
        state = row.state.ljust(_WIDEST_STATE)
        painted = f"\x1b[{_STATES[row.state]}m{state}\x1b[0m" if console.err_in_colour else state
        yield f"{painted}  {row.kind.ljust(kinds)}  {lines[0] if lines else ''}".rstrip()
        yield from (f"{'':{indent}}{line}" for line in lines[1:])


def sentence(row: CheckRow) -> str:
    """Return the name and the text of a row."""
    return f"{row.name}: {row.text}" if row.name and row.text else row.name or row.text


def faults(rows: Iterable[CheckRow]) -> tuple[str, int]:
    """Return what is wrong, and the exit status for it; an empty text if nothing is."""
    found = [row for row in rows if row.state == "wrong"]
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    texts = "; ".join(
        visible(f"{row.kind} `{row.name}`: {row.text}" if row.name else f"{row.kind}: {row.text}")
        for row in found[:_MOST_NAMED]
    )
    is_of_the_spec = any(row.exit_status == SPEC_AT_FAULT for row in found)
    return texts + more, SPEC_AT_FAULT if is_of_the_spec else SURROUNDINGS_AT_FAULT


def records(rows: Iterable[CheckRow]) -> list[dict[str, str]]:
    """Return the rows for JSON."""
    return [{"kind": row.kind, "name": row.name, "state": row.state, "text": row.text} for row in rows]
