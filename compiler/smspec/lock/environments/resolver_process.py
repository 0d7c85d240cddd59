"""Run a resolver to its end, or end it and everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from smspec.lock.environments.resolution import ResolverFailed
from smspec.workspace.deferred_signals import signals_deferred

MOST_SECONDS = 900
_LARGEST = 64 << 20


def output_of(words: Sequence[str], variables: Mapping[str, str], directory: str) -> tuple[int, str]:
    """Return the exit status of a resolver and what it printed. Raise `ResolverFailed` if it cannot run, or hangs."""
    path = os.path.join(directory, "output")
    try:
        with open(path, "w+b") as output:
            process = None
            try:
                with signals_deferred():  # one that interrupts Popen itself would leave a process that nothing ends
                    # In a session of its own: Ctrl-C is smspec's, which then ends the whole group.
                    process = subprocess.Popen(
                        words,
                        env=dict(variables),
                        cwd=directory,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                status = process.wait(MOST_SECONDS)
            finally:
                if process is not None:
                    _end(process)
            output.seek(0)
            return status, output.read(_LARGEST).decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        name = os.path.basename(words[0])
        raise ResolverFailed(f"`{name}` did not resolve the packages within {MOST_SECONDS} s") from None
    except OSError as fault:
        raise ResolverFailed(f"cannot start `{words[0]}`: {(fault.strerror or str(fault)).lower()}") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
