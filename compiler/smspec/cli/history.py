"""``smspec history``: what ran, in SageMaker and on this machine, the newest first."""

from __future__ import annotations

import argparse
import heapq
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import add_aws_arguments, aws_failures, credentials_wait
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.cli.logs import milliseconds
from smspec.cli.waiting import Waiting
from smspec.diagnostics import InvalidInput
from smspec.diagnostics.quoting import masked, visible
from smspec.diagnostics.wrapping import wrapped
from smspec.pipeline.input_cache import InputCache
from smspec.source.frozen import dataclass, replace

if TYPE_CHECKING:
    from smspec.cli.past_jobs import HistoryEntry, PastJob
    from smspec.service.job_costs import PriceBook

HELP = """\
Show what ran, the newest first: the jobs that `smspec submit` has made, and local runs, each with its commit, state,
duration, cost, final metrics, and what changed since the one before.

With a spec, its jobs and runs. With a directory, those of all specs below it; if it has none, all jobs that submit has
made in the region. Runs are searched below the directory, and in run/ of the current one. Without AWS credentials, only
local runs are shown.

--format html is a page about all of these: spending by tag against the ceilings, and why jobs did not complete.

Exit status: 0 done, whatever the status of a job; 1 the spec has errors; 3 AWS cannot be called, and what is known is
shown."""

_USUAL, _MOST = 20, 10_000
_OF_PAGE = 200
"""Jobs that the page lists one by one."""

_MOST_UNPAIRED = 1_000
"""Specs whose newest job waits for the one before it: each request may have thousands of values."""

_MOST_CHANGES = 8
_MOST_METRICS = 8
_LONGEST_REASON = 200
_MOST_FAULTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What to look for. ``specs``: names of specs; None for all. ``regions``: each region with the names there.

    ``roots``: the directories in which runs are searched, with whether only those of ``specs`` count. ``has_no_spec``:
    the directory has none, so all jobs are meant.
    """

    specs: frozenset[str] | None
    regions: dict[str, frozenset[str] | None]
    roots: tuple[tuple[str, bool], ...]
    has_no_spec: bool = False
    notes: tuple[str, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="SPEC|DIR", nargs="?", default=os.curdir, help="a spec, or a directory (default: .)"
    )
    parser.add_argument("--all", action="store_true", help="all jobs that submit has made in the region")
    parser.add_argument("--local", action="store_true", help="only local runs: do not ask SageMaker")
    parser.add_argument("--since", metavar="T", help="only what began from this time: 30d ago, 2h, or 2026-01-31")
    parser.add_argument(
        "--limit", metavar="N", type=_limit, help=f"at most N jobs and runs (default: {_USUAL}, of a page {_MOST})"
    )
    add_aws_arguments(parser)
    parser.add_argument(
        "--format", choices=("text", "json", "html"), default="text", help="format of the result on stdout"
    )


def _limit(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(_MOST)) and 0 < int(word) <= _MOST):
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {_MOST}, got `{word}`")
    return int(word)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.all and args.local:
        raise UsageError("--all lists jobs in SageMaker, but with --local it is not asked")
    since = _since(args.since)
    limit = args.limit or (_MOST if args.format == "html" else _USUAL)
    sought = _sought(args)
    # Imported late: `history --help` does not need it.
    from smspec.cli.comparison import prices_for

    prices, obstacle = prices_for(args.what, InputCache())
    notes = [*sought.notes, *filter(None, [obstacle])]
    faults: list[Exception] = []
    listed = [] if args.local else _from_sagemaker(args, sought, since, prices, console, notes, faults)
    runs = _local_runs(sought, since, notes)
    merged = heapq.merge(*listed, runs, key=_newest_first)
    with_changes = _OF_PAGE if args.format == "html" else limit
    wait = Waiting(console).of("SageMaker's list of jobs") if listed else nullcontext()
    with wait:
        entries, is_all = _entries(merged, limit, with_changes)
    _show(args, entries, console, is_all=is_all, notes=notes)
    for note in notes:
        console.say(visible(note))
    for fault in faults[:_MOST_FAULTS]:
        console.say(f"smspec: {visible(masked(str(fault)))}; what is known until then is shown")
    return max((3 if isinstance(fault, ResourceUnavailable) else 1 for fault in faults), default=0)


def _since(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromtimestamp(milliseconds(text, time.time()) / 1000, timezone.utc)


def _newest_first(job: PastJob) -> float:
    return -job.created.timestamp() if job.created else 0.0


def _sought(args: argparse.Namespace) -> Sought:
    what: str = args.what
    if not os.path.exists(what):
        raise UsageError(f"`{visible(what)}`: no such file or directory; `smspec compare` takes names of jobs")
    top = what if os.path.isdir(what) else os.path.dirname(what) or os.curdir
    usual = os.path.join(os.curdir, "run")
    if args.all:
        return Sought(specs=None, regions={args.region or "": None}, roots=((top, False),))
    # Imported late, with what compiles specs.
    from smspec.cli.named_job import check_region
    from smspec.pipeline.spec_discovery import NoJobs, find_job_specs

    is_spec = not os.path.isdir(what)
    try:
        specs: Sequence[str] = [what] if is_spec else find_job_specs([what], InputCache()).jobs
    except NoJobs:
        return Sought(specs=None, regions={args.region or "": None}, roots=((top, False),), has_no_spec=True)
    names: set[str] = set()
    regions: dict[str, set[str]] = {}
    notes: list[str] = []
    for spec in specs:
        try:
            for name, region, origin in _names_of(spec):
                if is_spec and region:
                    check_region(args.region, region, origin, spec)
                names.add(name)
                if not args.region or not region or region == args.region:
                    regions.setdefault(region or args.region or "", set()).add(name)
        except InvalidInput as rejected:
            if is_spec:
                raise
            first = next(each for each in rejected.diagnostics if each.severity == "error")
            notes.append(f"{spec} has errors, so its jobs in SageMaker are not listed: {first.code}: {first.message}")
    return Sought(
        specs=frozenset(names),
        regions={region: frozenset(found) for region, found in sorted(regions.items())},
        roots=((top, is_spec), (usual, True)),
        notes=tuple(notes[:_MOST_FAULTS])
        + ((f"{len(notes) - _MOST_FAULTS} more specs have errors",) if len(notes) > _MOST_FAULTS else ()),
    )


def _names_of(spec: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, region, and what decides it, of a spec and its overlays; both are empty if it leaves that open."""
    from smspec.cli.named_job import region_of
    from smspec.cli.spec_arguments import spec_job
    from smspec.pipeline.inputs import assembly, read_spec_files

    cache = InputCache()
    for overlay in (None, *assembly(read_spec_files(spec, cache), cache).overlays):
        job = spec_job(spec, argparse.Namespace(overlay=overlay, set=[], root=None))
        name = job.facts.job_name.text if job.facts.names_itself else job.plan.name
        yield name, *region_of(job)


def _from_sagemaker(
    args: argparse.Namespace,
    sought: Sought,
    since: datetime | None,
    prices: PriceBook,
    console: Console,
    notes: list[str],
    faults: list[Exception],
) -> list[Iterator[PastJob]]:
    """Return the jobs of each region. ``faults`` gets why one could not be read to its end."""
    if not sought.regions:
        return []
    # Imported late: boto3 takes a second to import.
    from smspec.submission.client import has_credentials, region_of_profile

    regions = dict(sought.regions)
    try:
        with aws_failures(), credentials_wait(console):
            can_ask = has_credentials(args.profile)
            usual = region_of_profile(args.profile) if "" in regions and len(regions) > 1 else ""
    except (CommandRefused, ResourceUnavailable) as fault:
        faults.append(fault)
        return []
    if not can_ask:
        notes.append("SageMaker was not asked: there are no AWS credentials; only local runs are shown")
        return []
    if sought.has_no_spec:
        notes.append(f"`{args.what}` has no job spec: all jobs that submit has made in the region are shown")
    if usual and usual in regions:
        # A name may be in both, as that of a spec whose overlay sets the region: its jobs are listed once.
        regions[usual] = frozenset((*(regions.pop("") or ()), *(regions[usual] or ())))
    return [_jobs_in(region, names, args, since, prices, faults) for region, names in regions.items()]


def _jobs_in(
    region: str,
    names: frozenset[str] | None,
    args: argparse.Namespace,
    since: datetime | None,
    prices: PriceBook,
    faults: list[Exception],
) -> Iterator[PastJob]:
    from smspec.cli.past_jobs import job_of_description
    from smspec.submission.job_search import JobSearch

    try:
        with aws_failures():
            search = JobSearch(args.profile, region or None)
            for answer, tags in search.jobs(sorted(names or ()), since):
                job = job_of_description(answer, prices, tags)
                if since is not None and job.created is not None and job.created < since:
                    continue  # of an emulator, which is not asked for a time
                if names is None or job.spec in names or job.name in names:
                    yield replace(job, place=job.place or search.region)
    except (CommandRefused, ResourceUnavailable) as fault:
        faults.append(fault)


def _local_runs(sought: Sought, since: datetime | None, notes: list[str]) -> list[PastJob]:
    from smspec.cli.past_jobs import job_of_run
    from smspec.local.record.past_runs import RunSearch

    search = RunSearch()
    found: list[PastJob] = []
    for root, is_limited in sought.roots:
        for each in search.below(root):
            job = job_of_run(each)
            is_new = since is None or (job.created is not None and job.created >= since)
            if is_new and (not is_limited or sought.specs is None or job.spec in sought.specs):
                found.append(job)
    if not search.is_whole:
        notes.append("not all directories were searched for local runs: pass a directory with fewer")
    return sorted(found, key=_newest_first)


def _entries(jobs: Iterable[PastJob], limit: int, with_changes: int) -> tuple[list[HistoryEntry], bool]:
    """Return the first jobs, and whether these are all. ``with_changes``: of how many to show what changed.

    A little more is read, because what the last ones changed needs those before them.
    """
    from smspec.cli.past_jobs import HistoryEntry, changes_between

    entries: list[HistoryEntry] = []
    unpaired: dict[tuple[str, bool], int] = {}
    for number, job in enumerate(jobs):
        key = job.spec, not job.directory
        later = unpaired.pop(key, None)
        if later is not None:
            entries[later] = replace(entries[later], changes=changes_between(job, entries[later].job))
            _forget(entries, later)
        if number >= limit:
            if number > limit + _USUAL * 4 or not unpaired:
                return entries, False
            continue
        entries.append(HistoryEntry(job=job))
        if number >= with_changes:
            _forget(entries, number)
            continue
        unpaired[key] = number
        if len(unpaired) > _MOST_UNPAIRED:
            _forget(entries, unpaired.pop(next(iter(unpaired))))
    return entries, True


def _forget(entries: list[HistoryEntry], index: int) -> None:
    """Let go of a request that is compared, so that a list of many jobs stays small."""
    job = entries[index].job
    entries[index] = replace(entries[index], job=replace(job, request={}))


def _show(
    args: argparse.Namespace, entries: Sequence[HistoryEntry], console: Console, *, is_all: bool, notes: Sequence[str]
) -> None:
    from smspec.cli.spending import Spending

    spending = Spending(each.job for each in entries)
    if args.format == "json":
        from smspec.cli.past_jobs import changes_as_json, job_as_json

        document = {
            "jobs": [{**job_as_json(each.job), "changes": changes_as_json(each.changes)} for each in entries],
            "is_all": is_all,
            **spending.record(),
            "notes": list(notes),
        }
        console.content(f"{json.dumps(document, indent=2)}\n")
        return
    if args.format == "html":
        from smspec.cli.spending import history_page

        console.content(history_page(entries, spending, is_all=is_all, notes=notes, most=_OF_PAGE))
        return
    if not entries:
        console.remark("no jobs or runs were found")
        return
    for each in entries:
        console.result("".join(f"{line}\n" for line in _lines(each, console.out_columns)), has_verdict=True)
        if console.has_lost_its_reader:
            return
    more = "" if is_all else "; there are more, pass --limit N"
    console.result(wrapped(f"{spending.line()}{more}", console.out_columns) + "\n")


def _lines(entry: HistoryEntry, columns: int | None) -> Iterator[str]:
    from smspec.cli.past_jobs import LOCAL, change_text, moment_text
    from smspec.local.record.units import duration

    job, margin = entry.job, " " * 4
    when = moment_text(job.created) if job.created else "unknown time"
    state = visible(job.state)
    took = "" if job.seconds is None else f" after {duration(job.seconds)}"
    place = f"local run in {job.directory}" if job.place == LOCAL else job.place
    yield wrapped(
        f"{when}  {visible(job.name)}  {state}{took if job.is_over else took.replace('after', 'for')}",
        columns,
        rest=margin,
    )
    dirty = " with changes" if job.is_dirty else ""
    facts = [visible(place), *([f"commit {visible(job.commit[:12])}{dirty}"] if job.commit else [])]
    facts += [f"run id {visible(job.run_id)}"] if job.run_id else []
    facts += [str(job.cost)] if str(job.cost) else []
    yield wrapped(", ".join(facts), columns, first=margin, rest=margin)
    if job.metrics:
        shown = ", ".join(f"{visible(name)} {value:.6g}" for name, value in job.metrics[:_MOST_METRICS])
        more = f", and {len(job.metrics) - _MOST_METRICS} more" if len(job.metrics) > _MOST_METRICS else ""
        yield wrapped(f"metrics: {shown}{more}", columns, first=margin, rest=margin)
    if job.diagnosis is not None:
        cause = job.diagnosis.cause
        text = (
            f"{cause.cause} ({cause.name})"
            if cause
            else f"unknown to smspec; {masked(job.reason)[:_LONGEST_REASON] or 'no reason given'}"
        )
        yield wrapped(visible(f"cause: {' '.join(text.split())}"), columns, first=margin, rest=margin)
    if entry.changes is not None:
        texts = [change_text(each) for each in entry.changes[:_MOST_CHANGES]]
        texts += [f"{len(entry.changes) - _MOST_CHANGES} more"] if len(entry.changes) > _MOST_CHANGES else []
        text = "; ".join(texts) or "nothing in the request"
        yield wrapped(visible(f"changed: {text}"), columns, first=margin, rest=margin)
