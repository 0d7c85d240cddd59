"""``smspec compare``: two jobs or local runs side by side."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import add_aws_arguments, aws_failures, is_job_name, service_in, show_choice
from smspec.cli.console import Console, UsageError
from smspec.cli.waiting import Waiting
from smspec.diagnostics.quoting import masked, visible
from smspec.diagnostics.wrapping import wrapped
from smspec.service.shapes import is_real, items, member, structure
from smspec.source.frozen import asdict, dataclass, replace

if TYPE_CHECKING:
    from smspec.cli.past_jobs import PastJob
    from smspec.local.watch.metric_counts import MetricValues
    from smspec.review.change import Change
    from smspec.service.job_costs import PriceBook
    from smspec.submission.job_service import JobService
    from smspec.submission.training_job import TrainingJob

HELP = """\
Show two jobs side by side, each a job in SageMaker or the directory of a local run: what differs between their
requests, by the keys of a spec, their metrics as figures and curves, their cost, and where they ran.

Curves of a job in SageMaker are read from its log. `smspec history` shows the names of jobs and directories.

Exit status: 0 done, whether they differ or not; 1 there is no such job; 2 bad arguments; 3 AWS cannot be called."""

_MOST_LOG = 64 << 20
"""Bytes of a log that are searched for the values of metrics."""

_MOST_VALUES, _MOST_CURVES = 1_000, 400
_MOST_SHOWN = 60
_STEPS = "▁▂▃▄▅▆▇█"
_COLUMNS = 40
_MOST_HOSTS = 3
"""Of a job whose curves a terminal shows."""

_NAMES = ("A", "B")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two. ``curves``: one for each metric and host. ``facts``: name → where and how it ran."""

    job: PastJob
    curves: tuple[MetricValues, ...]
    facts: Mapping[str, str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name in ("a", "b"):
        parser.add_argument(
            name,
            metavar="NAME|RUNDIR",
            help="a job in SageMaker, or the directory of a local run, with a dot or slash",
        )
    add_aws_arguments(parser)
    parser.add_argument(
        "--format", choices=("text", "json", "html"), default="text", help="format of the result on stdout"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    # Imported late: `compare --help` does not need it.
    from smspec.cli.comparison import prices_for
    from smspec.cli.past_jobs import changes_between
    from smspec.pipeline.input_cache import InputCache

    prices, obstacle = prices_for(os.curdir, InputCache())
    notes = [obstacle] if obstacle else []
    service: list[JobService] = []
    sides, answers = [], []
    for word in (args.a, args.b):
        if is_job_name(word):
            side, answer = _submitted(word, args, service, prices, console, notes)
        else:
            side, answer = _local(word), None
        sides.append(side)
        answers.append(answer)
    old, new = _comparable(sides, answers)
    changes = changes_between(old, new)
    if changes is None:
        notes.append("the requests are not compared: one is not known")
    show = {"text": _text, "json": _json, "html": _page}[args.format]
    write = console.result if args.format == "text" else console.content
    write(show(sides, changes, notes, console.out_columns))
    for note in notes:
        console.say(visible(note))
    return 0


def _local(path: str) -> Side:
    from smspec.cli.past_jobs import job_of_run
    from smspec.local.record.past_runs import past_run

    run = past_run(path) if os.path.isdir(path) else None
    if run is None:
        raise UsageError(
            f"`{visible(path)}` is neither the directory of a local run nor the name of a training job;"
            " `smspec history` shows both"
        )
    summary = run.summary
    versions = {name: value for name, value in structure(summary, "versions").items() if isinstance(value, str)}
    engine = versions.pop("engine", summary.get("engine"))
    facts = {**versions, **({"engine": engine} if isinstance(engine, str) else {})}
    return Side(job=job_of_run(run), curves=tuple(_curves_of_run(summary)), facts=facts)


def _curves_of_run(summary: Mapping[str, object]) -> Iterator[MetricValues]:
    from smspec.local.watch.metric_counts import MetricValues

    for each in items(summary, "metric_values")[:_MOST_CURVES]:
        names = [member(each, name) for name in ("metric", "host")]
        counts = [member(each, name) for name in ("count", "every")]
        values = [_finite(value) for value in items(each, "values")[:_MOST_VALUES]]
        is_whole = all(isinstance(name, str) for name in names)
        if is_whole and values and all(type(count) is int and 0 < count < 10**12 for count in counts):
            yield MetricValues(
                metric=str(names[0]),
                host=str(names[1]),
                count=int(str(counts[0])),
                every=int(str(counts[1])),
                values=tuple(values),
            )


def _finite(value: object) -> float | None:
    try:
        return float(value) if is_real(value) and isfinite(value) else None
    except OverflowError:
        return None


def _submitted(
    name: str,
    args: argparse.Namespace,
    services: list[JobService],
    prices: PriceBook,
    console: Console,
    notes: list[str],
) -> tuple[Side, Mapping[str, object]]:
    """Return a job in SageMaker, and its description. ``services`` gets the service of the region."""
    # Imported late: boto3 takes a second to import.
    from smspec.cli.aws_arguments import described_job
    from smspec.cli.past_jobs import job_of_description
    from smspec.submission.client import AccessDenied, AwsUnavailable, JobRefused

    with aws_failures():
        show_choice(name, console)
        if not services:
            services.append(service_in(args, args.region or "", console))
        with Waiting(console).of(f"SageMaker in {services[0].region}"):
            service, described = described_job(services[0], name)
            try:
                tags = service.tags(described)
            except AccessDenied as denied:
                tags = {}
                notes.append(f"{name} is shown without its commit: {denied}")
            try:
                curves = _curves_of_log(service, described)
            except (AwsUnavailable, JobRefused) as fault:
                curves = ()
                notes.append(f"{name} is shown without curves: {fault}")
    job = job_of_description(described.answer, prices, tags)
    last = {each.metric: value for each in curves for value in each.values[-1:] if value is not None}
    known = dict(job.metrics)
    job = replace(
        job,
        place=job.place or service.region,
        metrics=(*job.metrics, *((name, value) for name, value in last.items() if name not in known)),
    )
    return Side(job=job, curves=curves, facts={}), described.answer


def _curves_of_log(service: JobService, job: TrainingJob) -> tuple[MetricValues, ...]:
    """Return the values of the metrics of a job, as its log has them. Raise `AwsUnavailable` or `JobRefused`."""
    from contextlib import ExitStack
    from typing import TextIO

    from smspec.local.running.training_request import TrainingRequest
    from smspec.local.watch.metric_counts import count_metrics
    from smspec.submission.client import ANSWER_SECONDS
    from smspec.submission.following import JobLog
    from smspec.workspace.own_directories import temporary_directory

    request = TrainingRequest(dict(job.answer))
    if not request.metric_definitions:
        return ()
    left = _MOST_LOG
    with temporary_directory() as directory:
        with ExitStack() as stack:
            files: dict[str, TextIO] = {}
            for event in JobLog(service, job.name, budget=ANSWER_SECONDS).new_events():
                if event.host not in files and len(files) < _MOST_CURVES:
                    path = os.path.join(directory, f"{len(files)}.log")
                    files[event.host] = stack.enter_context(open(path, "w", encoding="utf-8", errors="replace"))
                left -= len(event.text)
                if left < 0:
                    break
                if event.host in files:
                    files[event.host].write(f"{event.text}\n")
        hosts = {str(number): host for number, host in enumerate(files)}
        counts = count_metrics(request, [os.path.join(directory, f"{number}.log") for number in hosts], masked)
    return tuple(replace(each, host=hosts[each.host]) for one in counts for each in one.values)


def _comparable(sides: Sequence[Side], answers: Sequence[Mapping[str, object] | None]) -> tuple[PastJob, PastJob]:
    """Return both jobs; of one in SageMaker, compared with a local run, without what SageMaker fills in itself."""
    jobs = [side.job for side in sides]
    for here, there in ((0, 1), (1, 0)):
        answer = answers[there]
        if answers[here] is None and answer is not None and jobs[here].request:
            from smspec.submission.ownership import differences

            sent = dict(jobs[here].request)
            differing = {path.partition(".")[0] for path in differences(sent, answer)}
            kept = {name: value for name, value in jobs[there].request.items() if name in sent or name in differing}
            jobs[there] = replace(jobs[there], request=kept)
    return jobs[0], jobs[1]


def _facts(sides: Sequence[Side]) -> list[tuple[str, str, str]]:
    """Return the name and both values of what is known of where and how the jobs ran."""
    from smspec.cli.past_jobs import LOCAL, moment_text
    from smspec.local.record.units import duration

    columns = []
    for side in sides:
        job = side.job
        dirty = ", with changes that it does not contain" if job.is_dirty else ""
        algorithm = structure(dict(job.request), "AlgorithmSpecification")
        columns.append(
            {
                "state": job.state,
                "began": moment_text(job.created) if job.created else "",
                "duration": "" if job.seconds is None else duration(job.seconds),
                "cost": str(job.cost),
                "cause": _cause(job),
                "place": f"local run in {job.directory}" if job.place == LOCAL else job.place,
                "commit": f"{job.commit}{dirty}" if job.commit else "",
                "run id": job.run_id,
                "hosts": job.hosts,
                "image": str(algorithm.get("TrainingImage") or algorithm.get("AlgorithmName") or ""),
                **side.facts,
            }
        )
    names = dict.fromkeys((*columns[0], *columns[1]))
    rows = [(name, columns[0].get(name, ""), columns[1].get(name, "")) for name in names]
    return [(name, masked(a), masked(b)) for name, a, b in rows if a or b]


def _cause(job: PastJob) -> str:
    if job.diagnosis is None:
        return ""
    cause = job.diagnosis.cause
    return f"{cause.cause} ({cause.name})" if cause else f"unknown to smspec; {job.reason}".rstrip("; ")


def _figures(sides: Sequence[Side]) -> list[tuple[str, float | None, float | None]]:
    """Return the name and the last value of each metric."""
    values = [dict(side.job.metrics) for side in sides]
    return [(name, values[0].get(name), values[1].get(name)) for name in dict.fromkeys((*values[0], *values[1]))]


def _rise(old: float | None, new: float | None) -> str:
    if old is None or new is None or not isfinite(old) or not isfinite(new):
        return ""
    if old == new:
        return "the same"
    difference = new - old
    percent = f", {100 * difference / abs(old):+.3g} %" if old and isfinite(difference / abs(old)) else ""
    return f"{difference:+.6g}{percent}"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _text(sides: Sequence[Side], changes: Sequence[Change] | None, _notes: Sequence[str], columns: int | None) -> str:
    from smspec.cli.past_jobs import change_text

    lines = [
        wrapped(f"{name}  {visible(side.job.name)}, {visible(side.job.directory or side.job.place)}", columns)
        for name, side in zip(_NAMES, sides, strict=True)
    ]
    lines += ["", "changed from A to B"]
    for each in (changes or ())[:_MOST_SHOWN]:
        lines.append(wrapped(visible(change_text(each)), columns, first="  ", rest="      "))
    if changes is not None and len(changes) > _MOST_SHOWN:
        lines.append(f"  … and {len(changes) - _MOST_SHOWN} more; --format json has them all")
    if not changes:
        lines.append("  nothing in the request" if changes is not None else "  unknown")
    figures = _figures(sides)
    lines += ["", "metrics"] if figures else []
    for name, old, new in figures[:_MOST_SHOWN]:
        rise = _rise(old, new)
        words = f"{visible(name)}: {_shown(old)} → {_shown(new)}{f' ({rise})' if rise else ''}"
        lines.append(wrapped(words, columns, first="  ", rest="      "))
        lines += _curve_lines(name, sides, columns)
    lines += ["", "cost and environment"]
    for name, there, here in _facts(sides):
        words = f"{name}: {here}, both" if there == here else f"{name}: {there or '-'} → {here or '-'}"
        lines.append(wrapped(visible(words), columns, first="  ", rest="      "))
    return "".join(f"{line}\n" for line in lines)


def _curve_lines(name: str, sides: Sequence[Side], columns: int | None) -> Iterator[str]:
    """Yield the curves of a metric, all on one scale."""
    curves = [
        (f"{letter} {visible(each.host)}", each.values)
        for letter, side in zip(_NAMES, sides, strict=True)
        for each in [one for one in side.curves if one.metric == name and len(one.values) > 1][:_MOST_HOSTS]
    ]
    known = [value for _, values in curves for value in values if value is not None]
    if not known:
        return
    low, high = min(known), max(known)
    room = min(_COLUMNS, max(8, (columns or 80) - 40))
    longest = max(len(label) for label, _ in curves)
    for label, values in curves:
        here = [value for value in values if value is not None]
        span = f"  {here[0]:.4g} to {here[-1]:.4g}" if here else ""
        yield f"    {label:{longest}}  {_spark(values, low, high, room)}{span}"


def _spark(values: Sequence[float | None], low: float, high: float, room: int) -> str:
    """Return a curve as one line of blocks: means of equal parts, a blank where there is no number."""
    width, shown = min(room, len(values)), ""
    for at in range(width):
        part = values[at * len(values) // width : (at + 1) * len(values) // width]
        here = [value for value in part if value is not None]
        if not here:
            shown += " "
            continue
        # Halves, so that the difference of two large numbers is finite.
        mean = sum(value / len(here) for value in here)
        share = (mean / 2 - low / 2) / (high / 2 - low / 2) if high / 2 > low / 2 else 0.0
        shown += _STEPS[min(len(_STEPS) - 1, max(0, int(share * len(_STEPS))))]
    return shown.ljust(width)


def _json(sides: Sequence[Side], changes: Sequence[Change] | None, notes: Sequence[str], _columns: int | None) -> str:
    from smspec.cli.past_jobs import changes_as_json, job_as_json

    document = {
        **{letter.lower(): job_as_json(side.job) for letter, side in zip(_NAMES, sides, strict=True)},
        "changes": changes_as_json(changes),
        "metrics": [{"name": name, "a": _finite(a), "b": _finite(b)} for name, a, b in _figures(sides)],
        "curves": [
            {"of": letter.lower(), **asdict(each)}
            for letter, side in zip(_NAMES, sides, strict=True)
            for each in side.curves
        ],
        "environment": [{"name": name, "a": a or None, "b": b or None} for name, a, b in _facts(sides)],
        "notes": list(notes),
    }
    return f"{json.dumps(document, indent=2)}\n"


def _page(sides: Sequence[Side], changes: Sequence[Change] | None, notes: Sequence[str], _columns: int | None) -> str:
    # Imported late: jinja2 is slow to import.
    import markupsafe

    from smspec.local.record.report import compared_charts
    from smspec.local.record.report_html import CHART_STYLE
    from smspec.render.pages import page_template
    from smspec.review.change import has_values, shown_values
    from smspec.source import dotted

    charts = compared_charts([(name, side.curves) for name, side in zip(_NAMES, sides, strict=True)])
    rows = [
        (dotted(each.path) or each.what, *(shown_values(each) if has_values(each) else (each.what, "")))
        for each in changes or ()
    ]
    return page_template("compare.html.j2", has_lines=False).render(
        sides=list(zip(_NAMES, sides, strict=True)),
        changes=None if changes is None else rows,
        figures=[(name, _shown(a), _shown(b), _rise(a, b)) for name, a, b in _figures(sides)],
        charts=markupsafe.Markup(charts),
        style=markupsafe.Markup(CHART_STYLE),
        facts=_facts(sides),
        notes=notes,
    )
