"""Run the command in this process or in a separate one."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from typing import NamedTuple

from smspec.cli import execute
from smspec.cli.console import Console
from smspec.diagnostics.quoting import OWN_CREDENTIALS


def sync_no_files() -> None:
    """Leave out in this process what waits for a disk, which all workers share: only a loss of power would show it.

    That files are synced, and when, is tested by the calls of processes that do not call this.
    """
    fsync = os.fsync

    def fsync_unless_file(descriptor: int) -> None:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            fsync(descriptor)

    os.fsync = fsync_unless_file


class Done(NamedTuple):
    """Exit status and output of a command."""

    status: int
    out: str
    err: str


def smspec(*words: str, cwd: str | os.PathLike[str] | None = None, columns: int | None = None) -> Done:
    """Run the command in this process, as if in the directory ``cwd``, not on a terminal; ``columns``: COLUMNS."""
    out, err = io.StringIO(), io.StringIO()
    before = os.getcwd()
    OWN_CREDENTIALS.clear()  # a process has the credentials of one command
    try:
        os.chdir(cwd or before)
        status = execute(list(words), Console(out, err, {} if columns is None else {"COLUMNS": str(columns)}))
    finally:
        os.chdir(before)
    return Done(status, out.getvalue(), err.getvalue())


def environment(**changes: str) -> dict[str, str]:
    """Return an environment without variables that change the output of a command."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "SMSPEC_", "NO_COLOR", "COLUMNS"))
    }
    return {**kept, **changes}


def smspec_process(*words: str, python: str = sys.executable, timeout: float = 60, **options: object) -> Done:
    """Run the command as a process. ``options`` are those of `subprocess.run`."""
    done = subprocess.run(
        [python, "-m", "smspec", *words],
        **{
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "stdin": subprocess.DEVNULL,
            "env": environment(),
            "timeout": timeout,
            **options,
        },
    )
    return Done(done.returncode, *((stream or b"").decode() for stream in (done.stdout, done.stderr)))
