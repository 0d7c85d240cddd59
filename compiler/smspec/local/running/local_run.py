"""Run a job on this machine, from its plan to its collected model."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone

from smspec import __version__
from smspec.diagnostics.quoting import visible
from smspec.local.channels.channel_data import find_data, require_apart
from smspec.local.engines.choice import open_engine
from smspec.local.engines.engine import JobToRun, RunningHost
from smspec.local.engines.namespace.cell.written_files import take_back
from smspec.local.prediction.predicting import predicted_job
from smspec.local.prediction.prediction import Prediction
from smspec.local.python.environment import EnvironmentCache
from smspec.local.python.interpreter import matching_interpreter
from smspec.local.python.wanted import wanted_python
from smspec.local.record.artifacts import Collected, collect
from smspec.local.record.flows import rehearsed
from smspec.local.record.progress import Progress
from smspec.local.record.report import report_page
from smspec.local.record.summary import RunRecord, Summary, throughput
from smspec.local.running.events import Event, PackagesDownloaded, Remark, Reporter
from smspec.local.running.host_layout import HostLayout
from smspec.local.running.image_content import source_files
from smspec.local.running.lost_results import LostResults
from smspec.local.running.request import (
    NO_FAULTS,
    LocalOutcome,
    RunConsole,
    RunFailed,
    RunInterrupted,
    RunRequest,
    Signals,
)
from smspec.local.running.run_directory import HOSTS, MODEL, OUTPUT, REPORT, SUMMARY, RunDirectory, claim
from smspec.local.running.run_end import (
    ClosingWarnings,
    exit_status_of,
    failure_hints,
    failure_reason,
    status_of,
    with_its_cause,
)
from smspec.local.running.supervision import Fleet, Supervision, Verdict, name_of, present_hosts
from smspec.local.running.training_request import Host, TrainingRequest
from smspec.local.watch.file_watch import CheckpointWatch
from smspec.local.watch.host_log import redactor, shown_hyperparameters, shown_request
from smspec.local.watch.machine_processes import Leftovers
from smspec.local.watch.memory_watch import OUT_OF_MEMORY, MemoryWatch, ProcessKilling, memory_limits
from smspec.local.watch.metric_counts import count_metrics
from smspec.plan import Plan
from smspec.render.tree import FileTree
from smspec.service.shapes import structure
from smspec.source.frozen import replace
from smspec.spec.model import BuiltImage, JobSpec

_MOST_PLACES = 5
"""That one line names."""


def run_locally(job: JobSpec, plan: Plan, tree: FileTree, request: RunRequest, console: RunConsole) -> LocalOutcome:
    """Run the job as SageMaker would, show its progress, and write everything to ``request.directory``.

    No process is left running, however it ends. Raise OSError if the disk fails, nothing else.
    """
    progress = Progress(console, verbosity=request.verbosity)
    arguments = [] if plan.run is None else [*plan.run.command, *plan.run.arguments]
    record = RunRecord(hide=redactor(TrainingRequest(plan.request.payload), os.environ, arguments, job.secrets))
    try:
        with Signals() as signals, EnvironmentCache() as cache:
            try:
                run = LocalRun(job, plan, tree, request, Audience(progress, record), signals, cache)
                if run.findings:
                    return LocalOutcome(exit_status=1, status="NotStarted", findings=run.findings)
                summary, exit_status = run.through(record)
            finally:
                progress.close()
            text = summary.to_json() if request.prints_json else summary.text(verbose=request.verbosity > 0)
            console.result(text, has_verdict=not request.prints_json)
    except RunFailed as fault:
        console.write(f"smspec: {visible(str(fault))}\n")
        return LocalOutcome(exit_status=fault.exit_status, status="NotStarted")
    except RunInterrupted as interrupted:
        console.write(f"smspec: stopped by {name_of(interrupted.number)}\n")
        return LocalOutcome(exit_status=128 + interrupted.number, status="Stopped")
    return LocalOutcome(
        exit_status=exit_status,
        status=summary.status,
        job_status=summary.job_status,
        failure_reason=summary.failure_reason,
    )


class Audience:
    """Passes events to all listeners."""

    def __init__(self, *reporters: Reporter) -> None:
        self._reporters = reporters

    def report(self, event: Event) -> None:
        for reporter in self._reporters:
            reporter.report(event)

    def tick(self) -> None:
        for reporter in self._reporters:
            reporter.tick()


class LocalRun:
    """One run: find the data, claim the directory, lay out, start, supervise, collect, report."""

    def __init__(
        self,
        job: JobSpec,
        plan: Plan,
        tree: FileTree,
        request: RunRequest,
        reporter: Reporter,
        signals: Signals,
        cache: EnvironmentCache,
    ) -> None:
        self._plan = plan
        self._tree = tree
        request = replace(request, downloaded=self._show_download)
        self._request = request
        self._reporter = reporter
        self._signals = signals
        self._training = TrainingRequest(plan.request.payload)
        self._hosts = _hosts(self._training, request.hosts)
        self._memory_limits = memory_limits(request.memory, self._hosts)
        self._settle_python(job, plan, tree)
        self._engine = open_engine(
            JobToRun(job=job, plan=plan, tree=tree, request=request, hosts=self._hosts, cache=cache)
        )
        if self._memory_limits and not self._engine.limits_memory and not sys.platform.startswith("linux"):
            raise RunFailed(3, "--memory needs Linux, or a container engine such as --engine docker")
        if request.injection is not None and not self._has_pipes():
            raise RunFailed(2, "fault injection requires a Pipe channel, and the job has none")
        generated = self._engine.generated_channels()
        self._job = job
        self._data, self.findings = find_data(job, self._training.channels, request, generated)
        self._layout = HostLayout(
            self._training,
            self._hosts,
            self._data,
            self._engine,
            reporter,
            request.checkpoints,
        )

    def through(self, record: RunRecord) -> tuple[Summary, int]:
        """Run the job to its end; return its summary and the exit status of the command."""
        started = record.begin()
        date = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        require_apart(self._data, self._request.directory)
        self._prepare()
        directory = claim(self._request.directory, self._training.name, self._training.checkpoint_place)
        try:
            with _discarded_after(BaseException, directory, self._signals):
                directory.make_hosts()
                self._layout.fill(directory)
                self._announce()
            places = {host.name: directory.host(host.name) for host in self._hosts}
            closing = ClosingWarnings(self._training, self._hosts, places, has_resumed=self._layout.has_resumed)
            results = LostResults(self._training, places, [path for path, _ in source_files(self._tree)])
            with _discarded_after(RunFailed, directory, self._signals), Leftovers():
                verdict, added = self._supervised(directory)
            directory.mark(self._training.name, status_of(verdict))
            try:
                summary = self._summary(directory, verdict, record, started)
            except RunInterrupted:
                place = directory.path(HOSTS)
                self._warn(f"the results were not collected; the next run removes them: they are in `{place}`")
                raise
            self._remark_on_end(summary, closing, results.warnings(added, summary.status), record)
            summary = replace(
                summary,
                started=date,
                warnings=tuple(record.warnings),
                prediction=self._prediction(),
            )
            _write(directory.vacant(SUMMARY), summary.to_json())
            _write(directory.vacant(REPORT), report_page(summary, record))
            return summary, exit_status_of(verdict)
        except OSError as fault:
            # A write that fails, unlike an open, does not name its file.
            fault.filename = fault.filename or self._request.directory
            raise
        finally:
            directory.release()

    def _settle_python(self, job: JobSpec, plan: Plan, tree: FileTree) -> None:
        """Fetch the Python of the image if that is asked for. Raise RunFailed if it is missing and must not be."""
        request = self._request
        if request.python is not None or not (request.fetches_python or request.is_strict):
            return
        version = wanted_python(job, plan, tree, request.requirements).version
        if version is not None and request.fetches_python:
            from smspec.local.python.installing import fetched_interpreter  # imported late: few runs ask for it

            fetched_interpreter(version, self._show)
        elif version is not None and matching_interpreter(version) is None:
            key = "image.base" if isinstance(job.image, BuiltImage) else "image"
            way = "install it or pass `--python EXE` or `--fetch-python`"
            raise RunFailed(3, f"`{key}` has Python {version}, this machine does not; {way}")

    def _prepare(self) -> None:
        """Name the engine and the differences, then install what it needs. Raise RunFailed."""
        self._show(f"engine: {self._engine.title}")
        shown = self._show_differences(())
        outside = [f"`{place}` (`channels.{data.channel.name}.local`)" for data in self._data for place in data.outside]
        if outside:
            more = f" and {len(outside) - _MOST_PLACES} more" if len(outside) > _MOST_PLACES else ""
            self._show(f"reads outside the project: {', '.join(outside[:_MOST_PLACES])}{more}")
        self._engine.prepare(self._show)
        self._show_differences(shown)

    def _show_differences(self, shown: Sequence[str]) -> list[str]:
        """Show those that have not been shown; return all. Raise RunFailed if the job must not run with any."""
        differences = self._engine.differences
        for difference in differences:
            if difference not in shown:
                self._show(f"different from SageMaker: {difference}")
        if differences and self._request.is_strict:
            count = "1 difference" if len(differences) == 1 else f"{len(differences)} differences"
            raise RunFailed(3, f"--strict: the engine `{self._engine.name}` has {count} from SageMaker")
        return differences

    def _announce(self) -> None:
        if self._request.rate is not None and not self._has_pipes():
            self._warn("--rate has no effect: the job has no Pipe channels")
        hosts = "1 host" if len(self._hosts) == 1 else f"{len(self._hosts)} hosts"
        count = self._engine.locked_packages
        locked = f" and the {count} package{'s' if count != 1 else ''} of smspec.lock" if count else ""
        self._show(f"running `{self._plan.name}` on {hosts} with {self._engine.python}{locked}")

    def _supervised(self, directory: RunDirectory) -> tuple[Verdict, dict[str, Sequence[str]]]:
        """Return the verdict, and the files that each host has written to no directory of this machine."""
        # From the first process on, a signal stops the job in good order.
        self._signals.note()
        fleet = Fleet(directory, self._reporter)
        watch = self._watch(directory)
        faults = self._request.faults or NO_FAULTS
        try:
            fleet.start(self._hosts, self._data, self._engine, self._request)
            if self._engine.unconfined:
                self._show(f"not confined: {', '.join(self._engine.unconfined)}")
            supervision = Supervision(
                fleet.hosts,
                fleet.feeders,
                self._reporter,
                self._signals,
                grace=self._request.grace,
                interruption=self._request.interruption,
                watch=watch,
                max_runtime=self._max_runtime(faults.limit),
                killing=None
                if faults.kill_after is None
                else ProcessKilling(faults.kill_after, faults.kills_rank, fleet.hosts, self._reporter),
                memory=self._memory_watch(fleet.hosts),
            )
            verdict = supervision.run()
            statuses = {host.host: host.exit_status for host in fleet.hosts}
            verdict = with_its_cause(verdict, statuses, directory.host)
        finally:
            fleet.end()
            lost = next((host.loss for host in fleet.hosts if host.loss), "")
            directory.is_in_use = bool(lost)
            if watch is not None:
                watch.close()
            self._engine.close()
            self._signals.interrupt()
        if lost:
            raise RunFailed(3, f"{lost}; `{directory.path(HOSTS)}` stays closed to other users (mode 0700)")
        closed = directory.open_hosts(take_back)
        if closed:
            self._warn(closed)
        return verdict, {host.host: host.added for host in fleet.hosts}

    def _watch(self, directory: RunDirectory) -> CheckpointWatch | None:
        place = self._training.checkpoint_place
        if not self._request.is_watched or not place:
            return None
        return CheckpointWatch({host.name: os.path.join(directory.host(host.name).root, place) for host in self._hosts})

    def _max_runtime(self, limit: float | None) -> float | None:
        """Return the seconds after which the job is stopped."""
        return min((each for each in (limit, self._training.max_runtime) if each is not None), default=None)

    def _memory_watch(self, hosts: Sequence[RunningHost]) -> MemoryWatch | None:
        if not self._memory_limits or self._engine.limits_memory:
            return None
        return MemoryWatch(self._memory_limits, hosts, self._reporter)

    def _summary(self, directory: RunDirectory, verdict: Verdict, record: RunRecord, started: float) -> Summary:
        places = [(host.name, directory.host(host.name)) for host in self._hosts]
        model = self._collected(MODEL, [(name, place.model) for name, place in places], directory)
        present = [host.name for host in present_hosts(self._hosts, self._request.faults)]
        output = self._collected(OUTPUT, [(name, place.output_data) for name, place in places], directory)
        return Summary(
            job=self._plan.name,
            status=status_of(verdict),
            job_status=verdict.job_status,
            failed=verdict.failed,
            failure_reason=record.hide(failure_reason(verdict, directory.host)),
            seconds=time.monotonic() - started,
            hosts=tuple(record.hosts[host.name] for host in self._hosts if host.name in record.hosts),
            flows=record.flows,
            model=model,
            output=output,
            logs=directory.path("logs", ""),
            report=directory.path(REPORT),
            throughput=throughput(record.series),
            rehearsed=rehearsed(self._request.injection, record.injected),
            versions={"smspec": __version__, "python": self._engine.python_version, "engine": self._engine.title},
            hyperparameters=shown_hyperparameters(self._training, record.hide),
            request=structure(shown_request(self._plan.request.payload, record.hide)),
            commit=self._request.commit,
            engine=self._engine.name,
            why=self._engine.why,
            differences=tuple(self._engine.differences),
            metrics=count_metrics(self._training, [directory.log(name) for name in present], record.hide),
        )

    def _collected(self, what: str, written: list[tuple[str, str]], directory: RunDirectory) -> Collected | None:
        compressed = self._training.compresses_output
        for suffix in (".tar.gz", ".tar.gz.part"):
            directory.vacant(what + suffix)
        return collect(what, written, directory.vacant(what), compressed=compressed, reporter=self._reporter)

    def _remark_on_end(
        self, summary: Summary, closing: ClosingWarnings, lost: Iterable[str], record: RunRecord
    ) -> None:
        # An injected fault and an interruption have these effects too.
        request = self._request
        if request.injection is None and request.faults is None and request.interruption is None:
            is_known = any(text.startswith(OUT_OF_MEMORY) for text in record.warnings)
            hints = () if is_known else failure_hints(summary, record.logs, self._engine.python)
            for text in (*closing.of_run(summary.status, summary.flows), *lost, *hints):
                self._warn(text)
        for metric in summary.metrics:
            if metric.warning:
                self._warn(metric.warning)

    def _prediction(self) -> Prediction | None:
        """Return what to expect of the job in SageMaker; None for a run that rehearses a fault or an interruption."""
        request = self._request
        if not request.predicts or request.injection or request.faults or request.interruption:
            return None
        generated = self._engine.generated_channels()
        data = [each for each in self._data if each.channel.name not in generated and each.channel.uri is not None]
        return predicted_job(self._job, self._training, data)

    def _has_pipes(self) -> bool:
        return any(channel.mode == "Pipe" for channel in self._training.channels)

    def _show(self, text: str) -> None:
        self._reporter.report(Remark(text=text))
        self._reporter.tick()

    def _show_download(self, size: int, total: int) -> None:
        self._reporter.report(PackagesDownloaded(size=size, total=total))
        self._reporter.tick()

    def _warn(self, text: str) -> None:
        self._reporter.report(Remark(text=text, warning=True))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _hosts(training: TrainingRequest, wanted: int | None) -> tuple[Host, ...]:
    if wanted is not None and wanted < 1:
        raise RunFailed(2, "--hosts must be at least 1")
    if wanted is not None and training.has_groups:
        raise RunFailed(2, "--hosts does not support `hosts.groups`; change the counts in an overlay")
    return training.hosts(wanted)


@contextmanager
def _discarded_after(kind: type[BaseException], directory: RunDirectory, signals: Signals) -> Iterator[None]:
    """Remove partial output if the job could not be started, even after repeated interrupts."""
    try:
        yield
    except kind:
        signals.note()
        directory.discard()
        raise
