"""The end of a run as a status of SageMaker and as an exit status."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from smspec.local.request import JobStatus
from smspec.local.run_directory import HostDirectory
from smspec.local.supervision import Verdict, name_of
from smspec.source.real_file import open_below

_FAILURE_CHARACTERS = 1024
"""SageMaker keeps the first 1024 characters of /opt/ml/output/failure (FailureReason)."""

_FAILURE = ("opt", "ml", "output", "failure")

_MISSING_MODULE = re.compile(r"\w+: ModuleNotFoundError: No module named '([\w.]+)'")


def status_of(verdict: Verdict) -> JobStatus:
    """Return the status of the job, as in the API."""
    if verdict.signal is not None or verdict.overran or verdict.is_interrupted:
        return "Stopped"
    return "Failed" if verdict.failed is not None else "Completed"


def exit_status_of(verdict: Verdict) -> int:
    """Return the exit status of the command."""
    if verdict.signal is not None:
        return 128 + verdict.signal
    if verdict.is_ours:
        return 3
    return 1 if verdict.failed is not None or verdict.overran or verdict.is_interrupted else 0


def failure_reason(verdict: Verdict, host: Callable[[str], HostDirectory]) -> str:
    """Return why the job failed or was stopped; empty for one that completed."""
    if verdict.signal is not None:
        return f"stopped by {name_of(verdict.signal)}"
    if verdict.is_interrupted:
        return "interrupted on purpose"
    if verdict.overran:
        return "MaxRuntimeExceeded: the job ran longer than MaxRuntimeInSeconds"
    if verdict.fault or verdict.failed is None:
        return verdict.fault
    reason = ""
    with suppress(OSError):
        # The script may have created a link to a file of this machine.
        descriptor = open_below(host(verdict.failed).root, _FAILURE)
        with open(descriptor, encoding="utf-8", errors="replace") as file:
            reason = file.read(_FAILURE_CHARACTERS).strip()
    return reason or f"{verdict.failed} exited with status {verdict.job_status} and wrote no failure file"


def missing_module(reason: str) -> str | None:
    """Return the module whose absence failed a job, if that is its failure reason."""
    match = _MISSING_MODULE.match(reason)
    return match[1] if match else None
