"""The command line of a container engine: what docker, podman, nerdctl, and finch have in common."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping

from smspec.local.process_guard import guarded

_SECONDS = 60.0
_SECONDS_OF_A_PROBE = 15.0
_MOST_LINES = 15


class ClientFailed(Exception):
    """A command of the client failed. The text is its last line of output; ``details`` the last few."""

    def __init__(self, text: str, details: str = "") -> None:
        super().__init__(text)
        self.details = details


class Client:
    """Runs commands of one client. ``program``: its name, such as ``docker``."""

    def __init__(self, program: str) -> None:
        self.program = program

    def run(self, *words: str, variables: Mapping[str, str] | None = None, seconds: float = _SECONDS) -> str:
        """Return what a command prints, without white space around it. Raise `ClientFailed`."""
        try:
            done = subprocess.run(
                [self.program, *words],
                env=_environment(variables),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                start_new_session=True,  # Ctrl-C is for smspec, which ends the job in good order
            )
        except subprocess.TimeoutExpired:
            raise ClientFailed(f"`{self.program} {words[0]}` has not answered for {seconds:.0f} seconds") from None
        except OSError as fault:
            raise ClientFailed(f"cannot start `{self.program}`: {(fault.strerror or str(fault)).lower()}") from None
        if done.returncode != 0:
            raise ClientFailed(_last_line(done.stderr.decode("utf-8", "replace")))
        return done.stdout.decode("utf-8", "replace").strip()

    def try_to(self, *words: str) -> None:
        """Run a command that may fail: what it removes or stops may be gone."""
        try:
            self.run(*words)
        except ClientFailed:
            pass

    def follow(self, *words: str, show: Callable[[str], None]) -> None:
        """Run a command that takes long, and pass on each line. Raise `ClientFailed`. It ends when smspec ends."""
        kept: list[str] = []
        try:
            process = subprocess.Popen(
                guarded([self.program, *words]),
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as fault:
            raise ClientFailed(f"cannot start `{self.program}`: {(fault.strerror or str(fault)).lower()}") from None
        with process:
            assert process.stdin is not None and process.stdout is not None
            try:
                for line in process.stdout:
                    text = line.decode("utf-8", "replace").rstrip()
                    kept = [*kept, text][-_MOST_LINES:]
                    show(text)
            finally:
                process.stdin.close()  # the guard kills what is left
        if process.returncode != 0:
            raise ClientFailed(next((line for line in reversed(kept) if line), ""), "\n".join(kept))


def unavailable(program: str) -> str | None:
    """Return why this machine cannot start containers with a program, as the end of a sentence, or None."""
    if shutil.which(program) is None:
        return f"`{program}` is not installed"
    try:
        # The version of the server, which podman has only where it is remote: `info` asks whatever does the work.
        Client(program).run("info", seconds=_SECONDS_OF_A_PROBE)
    except ClientFailed as fault:
        return f"`{program} info` fails: {fault}"
    return None


def _environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    # Without it, old versions of docker use a builder that cannot mount caches and secrets.
    return {**os.environ, "DOCKER_BUILDKIT": "1", **(variables or {})}


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2].strip() or "it failed without a message"
