"""A Pipe stream that ends inside a record."""

from __future__ import annotations

from functools import partial

from smspec.local.feeder.injection import Injection
from smspec.local.surroundings import SurroundingFaults
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.pipe_epochs import cut_of, first_epochs, no_pipe_reason
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal

_ADVICE = (
    "raise an exception if the data end inside a record; the readers of `smspec_runtime.pipe` do, and others, such as "
    "`read_recordio` of the SageMaker SDK, return the part as if it were whole"
)
_LARGEST_BUFFER = 4 << 20
"""What a reader may read ahead of the record that it needs."""
_FORMATS = "RecordIO, TFRecord, JSON lines, and CSV with several columns (set `content_type`)"


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    limit = time_limit(rehearsal)
    seen: list[str] = []
    doubts: list[str] = []
    has_format = False
    for epoch in first_epochs(rehearsal.undisturbed()[0]):
        cut = cut_of(rehearsal, epoch)
        if cut is None:
            continue
        has_format = True
        injection = Injection(truncate=cut.size, host=epoch.host, channel=epoch.channel, epoch=0, is_awaited=True)
        run = partial(run_with, rehearsal, faults=SurroundingFaults(limit=limit), injection=injection)
        trial = run(f"truncated-pipe-{epoch.channel}")
        if not any("truncate" in flow.injected for flow in trial.summary.flows):
            continue
        what = f"the stream of `{epoch.channel}` ends inside {cut.form}, after {cut.size:,} of {epoch.size:,} bytes"
        if hangs(trial):
            return hanging(rehearsal, trial, what, _ADVICE)
        if not trial.completed:
            seen.append(f"{what}; the job fails: {failure_of(trial)}")
            continue
        found = likeness(rehearsal, trial, run)
        changed = found.differences
        is_needed = not found.is_whole and not epoch.is_early and epoch.size - cut.size > _LARGEST_BUFFER
        if changed or is_needed:
            return broken(trial, f"{what}, and the job completes as if it were whole", *changed, advice=_ADVICE)
        if not found.is_whole:
            doubts.append(f"{what}, and the job completes; whether it needs the rest is unknown: {found.doubt}")
    if seen:
        return kept(*seen)
    if doubts:
        return not_rehearsed(*doubts)
    if not has_format:
        return not_rehearsed(f"only in some formats can a reader notice an incomplete record: {_FORMATS}")
    return not_rehearsed("the fault did not strike: the job needed no byte after the cut")


PROMISE = Promise(
    name="truncated-pipe",
    statement="a Pipe stream that ends inside a record fails the job",
    reason_against=no_pipe_reason,
    rehearse=_rehearse,
)
