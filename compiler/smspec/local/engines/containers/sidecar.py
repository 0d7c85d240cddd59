"""A container of smspec next to the hosts of a run: a program of ours on the Python of the job's image."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.workspace.process_guard import end_by_closing_stdin

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_LAST_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Companions:
    """What all containers of a run have in common. ``identity``: the beginning of their names."""

    client: Client
    image: str
    identity: str
    label: str

    def words(self, name: str, options: Sequence[str], words: Sequence[str]) -> list[str]:
        """Return the command that runs Python as root in a container with this stdin, whose end it waits for."""
        common = ("--name", f"{self.identity}-{name}", "--label", self.label, "--interactive", "--user", "0:0")
        return [self.client.program, "run", *common, *options, "--entrypoint", "python3", self.image, *words]

    def remove(self, name: str) -> None:
        """Remove a container, if it exists."""
        self.client.try_to("rm", "--force", "--volumes", f"{self.identity}-{name}")


class Sidecar:
    """A running program that answers with lines, and ends with its stdin, so also if smspec is killed."""

    def __init__(self, companions: Companions, name: str, options: Sequence[str], words: Sequence[str]) -> None:
        """Start it and wait until it is ready. Raise ClientFailed; nothing is left then."""
        self._companions = companions
        self._name = name
        self._unread = b""
        self._process = subprocess.Popen(
            companions.words(name, options, words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # smspec handles Ctrl-C
        )
        try:
            self._expect("ready")
        except ClientFailed:
            self.close()
            raise

    def ask(self, command: str, answer: str, seconds: float = _START_SECONDS) -> None:
        """Send a line and wait for its answer. Raise ClientFailed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n".encode())
            self._process.stdin.flush()
        except OSError:
            raise ClientFailed("it has ended") from None
        self._expect(answer, seconds)

    def close(self) -> None:
        """End the program, and remove its container."""
        assert self._process.stdout is not None and self._process.stderr is not None
        end_by_closing_stdin(self._process, _STOP_SECONDS)
        self._process.stdout.close()
        self._process.stderr.close()
        self._companions.remove(self._name)

    def _expect(self, answer: str, seconds: float = _START_SECONDS) -> None:
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise ClientFailed(f"it has not answered for {seconds:.0f} seconds")
            data = os.read(self._process.stdout.fileno(), _LAST_BYTES)
            if not data:
                raise ClientFailed(self._last_words())
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        if line.decode(errors="replace") != answer:
            raise ClientFailed(line.decode(errors="replace"))

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        text = self._process.stderr.read().decode(errors="replace").strip()
        return text.rpartition("\n")[2] or "it ended without a message"
