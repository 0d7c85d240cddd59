"""Runs a job on this machine: from its plan to its collected model."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from smspec.diagnostics.visible import visible
from smspec.local.channel_data import ChannelData, find_data
from smspec.local.channel_layout import ChannelLayout
from smspec.local.collecting import collect
from smspec.local.config_files import config_files
from smspec.local.container_paths import container_path_warning
from smspec.local.ending import exit_status_of, failure_reason, status_of
from smspec.local.events import Event, Remark, Reporter
from smspec.local.feeder.plan import FeederPlan
from smspec.local.feeder_process import FeederProcess
from smspec.local.host_process import HostProcess
from smspec.local.leftovers import Leftovers
from smspec.local.process_engine import ProcessEngine, loopback_interface
from smspec.local.progress import Progress
from smspec.local.record import Record
from smspec.local.rehearsal import rehearsed
from smspec.local.report.listening import Listener
from smspec.local.report.page import report_page
from smspec.local.request import Console, Interrupted, LocalOutcome, RunRequest, Unable
from smspec.local.run_directory import MODEL, OUTPUT, REPORT, SUMMARY, UPLOAD, RunDirectory, claim
from smspec.local.signals import Signals
from smspec.local.summary import Summary, throughput
from smspec.local.supervision import Supervision, Verdict, name_of
from smspec.local.training_request import Host, TrainingRequest
from smspec.plan.plan import Plan
from smspec.render.tree import FileTree
from smspec.spec.model import JobSpec

_MOST_SPOILT = 3


def run_locally(job: JobSpec, plan: Plan, tree: FileTree, request: RunRequest, console: Console) -> LocalOutcome:
    """Run the job as SageMaker would, show how it goes, and leave everything in ``request.directory``.

    Whatever ends it, nothing is left running. OSError where the disk refuses; nothing else is raised.
    """
    progress, record, listener = Progress(console), Record(), Listener()
    try:
        with Signals() as signals:
            try:
                run = _Run(job, plan, tree, request, _Audience(progress, record, listener), signals)
                if run.findings:
                    return LocalOutcome(exit_status=1, status="NotStarted", findings=run.findings)
                summary, exit_status = run.through(record, listener)
            finally:
                progress.close()
            console.result(summary.text())
    except Unable as fault:
        console.write(f"smspec: {visible(str(fault))}\n")
        return LocalOutcome(exit_status=fault.exit_status, status="NotStarted")
    except Interrupted as interrupted:
        console.write(f"smspec: stopped by {name_of(interrupted.number)}\n")
        return LocalOutcome(exit_status=128 + interrupted.number, status="Stopped")
    return LocalOutcome(
        exit_status=exit_status,
        status=summary.status,
        job_status=summary.job_status,
        failure_reason=summary.failure_reason,
    )


class _Audience:
    """Passes events on to everyone who listens."""

    def __init__(self, *reporters: Reporter) -> None:
        self._reporters = reporters

    def report(self, event: Event) -> None:
        for reporter in self._reporters:
            reporter.report(event)

    def tick(self) -> None:
        for reporter in self._reporters:
            reporter.tick()


class _Run:
    """One run. Reads as its life: find the data, claim the directory, lay out, start, supervise, collect, tell."""

    def __init__(
        self, job: JobSpec, plan: Plan, tree: FileTree, request: RunRequest, reporter: Reporter, signals: Signals
    ) -> None:
        self._plan = plan
        self._tree = tree
        self._request = request
        self._reporter = reporter
        self._signals = signals
        self._training = TrainingRequest(plan.request.payload)
        self._hosts = _hosts(self._training, request.hosts)
        self._layout = ChannelLayout(self._hosts, reporter)
        self._engine = ProcessEngine(job, plan, tree, request.tree_dir, request.python, len(self._hosts))
        if request.injection is not None and not self._has_pipes():
            raise Unable(2, "faults are injected into Pipe channels, and this job has none")
        self._data, self.findings = find_data(job, self._training.channels, request, self._engine.generated_channels())

    def through(self, record: Record, listener: Listener) -> tuple[Summary, int]:
        """Run the job to its end; return how it went and the exit status of the command."""
        started = listener.begin()
        directory = claim(self._request.directory, self._training.name)
        try:
            with _discarded_after(BaseException, directory, self._signals):
                self._lay_out(directory)
                self._announce()
            with _discarded_after(Unable, directory, self._signals), Leftovers():
                verdict = self._supervised(directory)
            for channel, path in self._layout.spoilt()[:_MOST_SPOILT]:
                text = f"the program wrote to `{path}`: SageMaker mounts FastFile channels, as `{channel}`, read-only"
                self._reporter.report(Remark(text=text, warning=True))
            directory.mark(self._training.name, status_of(verdict))
            summary = self._collected(directory, verdict, record, listener, started)
            _write(directory.path(SUMMARY), summary.to_json())
            _write(summary.report, report_page(summary, listener))
            return summary, exit_status_of(verdict)
        except OSError as fault:
            # A write that fails, unlike an open, does not tell where.
            fault.filename = fault.filename or self._request.directory
            raise
        finally:
            directory.release()

    def _lay_out(self, directory: RunDirectory) -> None:
        hyperparameters = self._engine.hyperparameters(directory.path(UPLOAD))
        for host in self._hosts:
            place = directory.host(host.name)
            place.make()
            self._engine.prepare(place)
            texts = config_files(self._training, self._hosts, host, hyperparameters, loopback_interface())
            for name, text in texts.items():
                with open(os.path.join(place.config, name), "w", encoding="utf-8") as file:
                    file.write(text)
            for data in self._data_of(host):
                if data.channel.mode != "Pipe":
                    self._layout.lay(data, host, place.data)
        self._take_up_checkpoints(directory)

    def _take_up_checkpoints(self, directory: RunDirectory) -> None:
        """Give every host its checkpoint directory, with what a run left in it that did not complete."""
        wanted = self._training.checkpoint_directory
        if wanted is not None and wanted.startswith("/opt/ml/"):
            place = os.path.relpath(wanted, "/opt/ml")
            for host in self._hosts:
                os.makedirs(os.path.join(directory.host(host.name).base, place), exist_ok=True)
            restored = [host.name for host in self._hosts if directory.restore(host.name, *place.split("/"))]
            if restored:
                whose = f"the checkpoints of the last run, which did not complete ({', '.join(restored)})"
                self._reporter.report(Remark(text=f"going on from {whose}; remove `{directory.root}` to begin anew"))
        directory.forget_interrupted()

    def _announce(self) -> None:
        for warning in (container_path_warning(self._plan, self._tree), self._engine.installation_warning()):
            if warning is not None:
                self._reporter.report(Remark(text=warning, warning=True))
        if self._request.rate is not None and not self._has_pipes():
            self._reporter.report(Remark(text="--rate limits Pipe channels, and this job has none", warning=True))
        hosts = "1 host" if len(self._hosts) == 1 else f"{len(self._hosts)} hosts"
        self._reporter.report(Remark(text=f"running `{self._plan.name}` on {hosts} with {self._engine.python}"))
        self._reporter.tick()

    def _supervised(self, directory: RunDirectory) -> Verdict:
        # From the first process on, a signal stops the job in good order.
        self._signals.note()
        feeders: list[FeederProcess] = []
        processes: list[HostProcess] = []
        try:
            for host in self._hosts:
                if self._piped(host):
                    feeders.append(self._feeder(host, directory))
            for host in self._hosts:
                processes.append(self._process(host, directory))
            supervision = Supervision(
                processes,
                feeders,
                self._reporter,
                self._signals,
                grace=self._request.grace,
                max_runtime=self._training.max_runtime,
            )
            return supervision.run()
        finally:
            for process in processes:
                if not process.ended():
                    process.kill()
            for feeder in feeders:
                for event in feeder.stop():
                    self._reporter.report(event)
            _remove_fifos(directory.host(host.name).data for host in self._hosts)
            self._signals.interrupt()

    def _feeder(self, host: Host, directory: RunDirectory) -> FeederProcess:
        place = directory.host(host.name)
        channels = [data.feeder_channel(host, self._hosts) for data in self._piped(host)]
        plan = FeederPlan(
            directory=os.path.abspath(place.data),
            channels=channels,
            rate=self._request.rate,
            injection=self._request.injection,
        )
        return FeederProcess(host.name, plan, os.path.join(place.root, "feeder.json"))

    def _process(self, host: Host, directory: RunDirectory) -> HostProcess:
        place = directory.host(host.name)
        return HostProcess(host.name, self._engine.command(place, os.environ), directory.log(host.name))

    def _piped(self, host: Host) -> list[ChannelData]:
        return [data for data in self._data_of(host) if data.channel.mode == "Pipe"]

    def _has_pipes(self) -> bool:
        return any(channel.mode == "Pipe" for channel in self._training.channels)

    def _data_of(self, host: Host) -> Iterator[ChannelData]:
        return (data for data in self._data if host in data.channel.hosts(self._hosts))

    def _collected(
        self, directory: RunDirectory, verdict: Verdict, record: Record, listener: Listener, started: float
    ) -> Summary:
        places = [(host.name, directory.host(host.name)) for host in self._hosts]
        compressed = self._training.compresses_output
        model, output = (
            collect(what, written, directory.path(what), compressed=compressed, reporter=self._reporter)
            for what, written in (
                (MODEL, [(name, place.model) for name, place in places]),
                (OUTPUT, [(name, place.output_data) for name, place in places]),
            )
        )
        return Summary(
            job=self._plan.name,
            status=status_of(verdict),
            job_status=verdict.job_status,
            failed=verdict.failed,
            failure_reason=failure_reason(verdict, directory.host),
            seconds=time.monotonic() - started,
            hosts=tuple(record.hosts[host.name] for host in self._hosts if host.name in record.hosts),
            flows=record.flows,
            model=model,
            output=output,
            logs=directory.path("logs", ""),
            report=directory.path(REPORT),
            throughput=throughput(listener.series),
            rehearsed=rehearsed(self._request.injection, record.injected),
        )


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _hosts(training: TrainingRequest, wanted: int | None) -> tuple[Host, ...]:
    if wanted is not None and wanted < 1:
        raise Unable(2, "--hosts must be at least 1")
    if wanted is not None and training.has_groups:
        raise Unable(2, "--hosts cannot say how many hosts each instance group has; change the counts in an overlay")
    return training.hosts(wanted)


@contextmanager
def _discarded_after(kind: type[BaseException], directory: RunDirectory, signals: Signals) -> Iterator[None]:
    """Leave nothing half-written when the job could not even be started, however impatient somebody is."""
    try:
        yield
    except kind:
        signals.note()
        directory.discard()
        raise


def _remove_fifos(directories: Iterator[str]) -> None:
    """Remove what a feeder that was killed could not."""
    for directory in directories:
        # A program may have removed or replaced what is there, the directory too.
        with suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                with suppress(OSError):
                    if stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode):
                        os.unlink(entry.path)
