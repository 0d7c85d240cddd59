"""The processes of a job: its hosts, and a feeder for each that has Pipe channels."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from smspec.local.channels.channel_data import ChannelData
from smspec.local.channels.feeder_process import FeederProcess
from smspec.local.engines.engine import Engine, RunningHost
from smspec.local.feeder.plan import FeederPlan, Injection
from smspec.local.running.events import Reporter
from smspec.local.running.request import RunRequest, SurroundingFaults
from smspec.local.running.run_directory import RunDirectory
from smspec.local.running.training_request import Host


def present_hosts(hosts: tuple[Host, ...], faults: SurroundingFaults | None) -> list[Host]:
    """Return the hosts that are started: all, unless one is absent on purpose."""
    return [host for host in hosts if faults is None or host.name != faults.absent]


class Fleet:
    """Starts processes and ends them. ``hosts`` and ``feeders`` are those that were started so far."""

    def __init__(self, directory: RunDirectory, reporter: Reporter) -> None:
        self.hosts: list[RunningHost] = []
        self.feeders: list[FeederProcess] = []
        self._directory = directory
        self._reporter = reporter
        self._fed: list[str] = []

    def start(
        self, hosts: tuple[Host, ...], data: tuple[ChannelData, ...], engine: Engine, request: RunRequest
    ) -> None:
        """Start the feeders, then the hosts, so that the first FIFO of each channel exists before a script starts."""
        present = present_hosts(hosts, request.faults)
        for host in present:
            piped = [each for each in data if each.is_piped and each.reaches(host, hosts)]
            if piped:
                place = self._directory.host(host.name)
                self._fed.append(os.path.realpath(place.data))
                plan = FeederPlan(
                    directory=os.path.abspath(place.data),
                    channels=[each.feeder_channel(host, hosts) for each in piped],
                    rate=request.rate,
                    injection=_injection(request.injection, host),
                )
                self.feeders.append(engine.feed(host, plan, self._directory))
        self.hosts += engine.start(present, self._directory)

    def end(self) -> None:
        """Kill the remaining hosts, stop the feeders, and report their last events."""
        for host in self.hosts:
            if not host.ended():
                host.kill()
        for feeder in self.feeders:
            for event in feeder.stop():
                self._reporter.report(event)
        for directory in self._fed:
            _remove_fifos(directory)


def _injection(injection: Injection | None, host: Host) -> Injection | None:
    return injection if injection is not None and injection.host in (None, host.name) else None


def _remove_fifos(directory: str) -> None:
    """Remove the FIFOs of a killed feeder. ``directory`` has no links, unless a script has created one."""
    if os.path.realpath(directory) != directory:
        return
    # A script may have removed or replaced the files, and the directory too.
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            with suppress(OSError):
                if stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode):
                    os.unlink(entry.path)
