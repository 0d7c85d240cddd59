"""The feeder of one host as a child process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from smspec.local import feeder
from smspec.local.feeder.plan import FeederPlan
from smspec.local.feeder.program import UNTIL_EOF
from smspec.local.running.events import EpochEnded, EpochFed, Event, FaultInjected
from smspec.local.running.request import RunFailed
from smspec.local.s3 import is_s3
from smspec.workspace.process_guard import end_by_closing_stdin

_PROGRAM = os.path.dirname(feeder.__file__)
_S3_PROGRAM = "smspec.local.s3.store"
_READ = 1 << 16
_STOP_SECONDS = 5.0


def own_feeder(host: str, plan: FeederPlan, plan_file: str) -> FeederProcess:
    """Start a feeder on the Python of smspec, whatever Python the job uses. Raise RunFailed."""
    with open(plan_file, "w", encoding="utf-8") as file:
        file.write(plan.to_json())
    return FeederProcess(host, [sys.executable, "-I", *_program(plan), UNTIL_EOF, plan_file])


def _program(plan: FeederPlan) -> list[str]:
    """Return the words after ``python -I``: the feeder itself, or with the S3 store of this package."""
    if not any(is_s3(channel.source) for channel in plan.channels):
        return [_PROGRAM]
    return ["-c", f"import sys; sys.path[:] = {sys.path!r}; from {_S3_PROGRAM} import main; main(sys.argv[1:])"]


class FeederFault(Exception):
    """The data of a channel are invalid; or, ``is_ours``, the feeder itself or what it needs failed."""

    def __init__(self, message: str, *, is_ours: bool = False) -> None:
        super().__init__(message)
        self.is_ours = is_ours


class FeederProcess:
    """A running feeder. It stops if smspec dies: its stdin ends."""

    def __init__(self, host: str, words: Sequence[str], first: str = "") -> None:
        """``words``: the command. ``first``: what it reads first. Raise RunFailed."""
        self.host = host
        self.pid = -1
        self.is_killed = False
        self._totals: dict[tuple[str, int], int | None] = {}
        self._opened: dict[tuple[str, int], float] = {}
        self._unread = b""
        self._start = 0.0
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # smspec handles Ctrl-C, and stops the feeder when the job has ended
        )
        self.pid = self._process.pid
        assert self._process.stdin is not None and self._process.stdout is not None
        self.descriptor = self._process.stdout.fileno()
        with suppress(BrokenPipeError):  # it has ended, which its output shows
            self._process.stdin.write(first.encode())
            self._process.stdin.flush()
        self._await_ready()

    def events(self) -> Iterator[Event]:
        """Read the available output, which may block, and yield its events. Raise FeederFault.

        `is_killed`: the feeder has died on request; then there is nothing more to read.
        """
        data = os.read(self.descriptor, _READ)
        if not data:
            status = self._process.wait()
            if self.is_killed:
                return
            raise FeederFault(f"the feeder of {self.host} has died; its exit status is {status}", is_ours=True)
        yield from self._decoded(data)

    def stop(self) -> Iterator[Event]:
        """Stop the feeder, wait until its FIFOs are removed, and yield its last events."""
        assert self._process.stdout is not None
        end_by_closing_stdin(self._process, _STOP_SECONDS)
        os.set_blocking(self.descriptor, False)
        rest = self._process.stdout.read() or b""
        self._process.stdout.close()
        try:
            yield from self._decoded(rest)
        except FeederFault:
            pass  # the job is over and does not need these data any more

    def _await_ready(self) -> None:
        while b"\n" not in self._unread:
            data = os.read(self.descriptor, _READ)
            if not data:
                status = self._process.wait()
                raise RunFailed(3, f"the feeder of {self.host} did not start; its exit status is {status}")
            self._unread += data
        ready, _, self._unread = self._unread.partition(b"\n")
        # Its output arrives in bursts if the reader is fast: its own clock has the time of each event.
        self._start = time.monotonic() - json.loads(ready)["at"]

    def _decoded(self, data: bytes) -> Iterator[Event]:
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            event = json.loads(line)
            kind = event.pop("event")
            if kind == "fault":
                raise FeederFault(
                    f"channel `{event['channel']}`, epoch {event['epoch']}: {event['message']}",
                    is_ours=event["unavailable"],
                )
            channel, epoch, moment = event["channel"], event["epoch"], self._start + event["at"]
            if kind == "opened":
                self._opened[channel, epoch] = moment
                self._totals[channel, epoch] = event["total"]
                yield self._fed(channel, epoch, 0, moment)
            elif kind == "sent":
                yield self._fed(channel, epoch, event["bytes"], moment)
            elif kind == "injected":
                self.is_killed |= event["kind"] == "kill_writer"
                yield self._fed(channel, epoch, event["bytes"], moment)  # the last event of a killed feeder
                yield FaultInjected(
                    host=self.host, channel=channel, epoch=epoch, size=event["bytes"], kind=event["kind"]
                )
            elif kind == "ended":
                yield EpochEnded(
                    host=self.host,
                    channel=channel,
                    epoch=epoch,
                    size=event["bytes"],
                    seconds=event["seconds"],
                    early=event["early"],
                    moment=moment,
                )

    def _fed(self, channel: str, epoch: int, size: int, moment: float) -> EpochFed:
        return EpochFed(
            host=self.host,
            channel=channel,
            epoch=epoch,
            size=size,
            total=self._totals.get((channel, epoch)),
            seconds=moment - self._opened.get((channel, epoch), moment),
            moment=moment,
        )
