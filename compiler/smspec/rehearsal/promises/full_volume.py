"""A volume that fills up while the job writes its checkpoints and its model."""

from __future__ import annotations

import os
import sys
from functools import partial

from smspec.local.engines.fault_support import unsupported
from smspec.local.surroundings import SurroundingFaults
from smspec.local.units import size
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.trial import Trial
from smspec.rehearsal.written_files import written_by, written_model

_ADVICE = (
    "let errors of saving end the script: no `except OSError: pass` around it, and close files, or use `with`, because "
    "an error at the end of the script has no effect"
)
_MOST_ROOM = 256 << 20
"""The volume is in memory."""

_COMMON_PAGE = 4096


def _reason_against(rehearsal: Rehearsal) -> str | None:
    return unsupported(SurroundingFaults(room=0), rehearsal.engine)


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    undisturbed = rehearsal.undisturbed()[0]
    page = _page_size()
    pages = max(written_by(undisturbed, host).pages(page) for host in undisturbed.hosts)
    if not pages:
        return not_rehearsed("the job writes neither a model nor checkpoints")
    room = min(pages // 2 * page, _MOST_ROOM)
    run = partial(run_with, rehearsal, faults=SurroundingFaults(room=room, limit=time_limit(rehearsal)))
    trial = run("full-volume")
    where = f"the disk is full after {size(room)}"
    if hangs(trial):
        return hanging(rehearsal, trial, where, _ADVICE)
    if not trial.completed:
        return kept(f"the job fails when {where}: {failure_of(trial)}")
    lost = _cut_files(undisturbed, trial, page) or likeness(rehearsal, trial, run).differences
    if lost:
        return broken(
            trial, f"completes although {where}, without its whole model: {lost[0]}", *lost[1:], advice=_ADVICE
        )
    return kept(f"completes with its model although {where}")


def _page_size() -> int:
    """Return the size of the pages of a volume: elsewhere than on Linux, a virtual machine with Linux has it."""
    return os.sysconf("SC_PAGE_SIZE") if sys.platform.startswith("linux") else _COMMON_PAGE


def _cut_files(undisturbed: Trial, trial: Trial, page: int) -> tuple[str, ...]:
    """Return the files of the model that end where the disk was full; their names may contain a time."""
    found = []
    for host in trial.hosts:
        whole, left = (written_model(one, host) for one in (undisturbed, trial))
        if whole.sizes and not left.sizes:
            found.append(f"the model directory of {host} is empty")
        for name, wanted in whole.sizes.items():
            other = left.counterpart(name)
            if other is not None and left.sizes[other] < wanted and left.sizes[other] % page == 0:
                found.append(f"`{other}` has {left.sizes[other]:,} of {wanted:,} bytes")
    return tuple(found)


PROMISE = Promise(
    name="full-volume",
    statement="a full disk fails the job instead of losing its model",
    reason_against=_reason_against,
    rehearse=_rehearse,
)
