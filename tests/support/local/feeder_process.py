"""A feeder process for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import smspec.local.feeder
from smspec.local.feeder.plan import FeederPlan

PROGRAM = os.path.dirname(smspec.local.feeder.__file__)
DEADLINE = 20


class FeederProcess:
    """Runs the real program. `events` contains its events so far."""

    def __init__(self, plan: FeederPlan, plan_file: str, python: str = sys.executable) -> None:
        with open(plan_file, "w") as file:
            file.write(plan.to_json())
        self.directory = plan.directory
        self.events: list[dict] = []
        self.process = subprocess.Popen(
            [python, "-I", PROGRAM, "--until-eof", plan_file], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def wait_for(self, event: str, count: int = 1, **members: object) -> dict:
        """Return the ``count``-th event of this kind with these members."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            found = [e for e in self.events if e["event"] == event and members.items() <= e.items()]
            if len(found) >= count:
                return found[count - 1]
            assert self.process.poll() is None or self._listener.is_alive(), "the feeder ended"
            time.sleep(0.005)
        raise AssertionError(f"no {event} {members} in {self.events}")

    def fifo(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def read(self, name: str, limit: int = -1) -> bytes:
        """Open a FIFO as a training script would, read it to the end, or some bytes of it, and close it."""
        with open(self.fifo(name), "rb", buffering=0) as fifo:
            if limit >= 0:
                return fifo.read(limit)
            return b"".join(iter(lambda: fifo.read(1 << 20), b""))

    def stop(self) -> int:
        """End its stdin, like the death of its parent, and return its exit status."""
        self.process.stdin.close()
        status = self.process.wait(DEADLINE)
        self._listener.join(DEADLINE)
        self.process.stdout.close()
        return status
