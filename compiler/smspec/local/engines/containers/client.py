"""The command line of a container engine: what docker, podman, nerdctl, and finch have in common."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress

from smspec.workspace.process_guard import guarded

_SECONDS = 60.0
_SECONDS_OF_A_PROBE = 15.0
_SECONDS_TO_END = 5.0
_MOST_LINES = 15


class ClientFailed(Exception):
    """A command of the client failed. The text is its last line of output; ``details`` the last few."""

    def __init__(self, text: str, details: str = "") -> None:
        super().__init__(text)
        self.details = details


class Client:
    """Runs commands of one client. ``program``: its name, such as ``docker``; ``variables``: for all its commands."""

    def __init__(self, program: str, variables: Mapping[str, str] | None = None) -> None:
        self.program = program
        self._variables = variables or {}

    def run(
        self, *words: str, variables: Mapping[str, str] | None = None, seconds: float = _SECONDS, given: str = ""
    ) -> str:
        """Return what a command prints, without white space around it. Raise `ClientFailed`.

        ``given``: the text that the command reads from its standard input.
        """
        try:
            done = subprocess.run(
                [self.program, *words],
                env=self._environment(variables),
                input=given.encode(),
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
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as fault:
            raise ClientFailed(f"cannot start `{self.program}`: {(fault.strerror or str(fault)).lower()}") from None
        with process:
            assert process.stdin is not None and process.stdout is not None
            is_over = False
            try:
                for line in process.stdout:
                    text = line.decode("utf-8", "replace").rstrip()
                    kept = [*kept, text][-_MOST_LINES:]
                    show(text)
                is_over = True
            finally:
                if not is_over:  # the client tells its engine to stop, and removes what it has begun
                    process.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(_SECONDS_TO_END)
                process.stdin.close()  # the guard kills what is left
        if process.returncode != 0:
            raise ClientFailed(next((line for line in reversed(kept) if line), ""), "\n".join(kept))

    def _environment(self, variables: Mapping[str, str] | None = None) -> dict[str, str]:
        # Without it, docker before version 23 uses a builder that cannot mount caches and secrets.
        return {"DOCKER_BUILDKIT": "1", **os.environ, **self._variables, **(variables or {})}


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


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2].strip() or "it failed without a message"
