"""A Pipe stream that falls silent in its middle, and goes on later."""

from __future__ import annotations

from functools import partial

from smspec.local.feeder.injection import Injection
from smspec.local.surroundings import SurroundingFaults
from smspec.local.units import duration
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.pipe_epochs import first_epochs, no_pipe_reason
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal

_SECONDS = 10.0
_ADVICE = (
    "read until the end of the FIFO, and do not take silence for its end; a timeout for the next byte should be "
    "minutes, and an error"
)


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    undisturbed = rehearsal.undisturbed()[0]
    seconds = min(_SECONDS, rehearsal.patience)
    limit = time_limit(rehearsal) + seconds
    seen = []
    for epoch in first_epochs(undisturbed):
        injection = Injection(stall=seconds, channel=epoch.channel, epoch=0, is_awaited=True)
        run = partial(run_with, rehearsal, faults=SurroundingFaults(limit=limit), injection=injection)
        trial = run(f"stalled-pipe-{epoch.channel}")
        what = f"the stream of `{epoch.channel}` pauses for {duration(seconds)}"
        if not any("stall" in flow.injected for flow in trial.summary.flows):
            continue
        if hangs(trial):
            return hanging(rehearsal, trial, what, _ADVICE)
        if not trial.completed:
            return broken(trial, f"{what}, and the job fails: {failure_of(trial)}", advice=_ADVICE)
        left = [flow for flow in first_epochs(trial) if (flow.host, flow.channel) == (epoch.host, epoch.channel)]
        if left and left[0].is_early and not epoch.is_early:
            return broken(
                trial,
                f"{what}, and the job takes that for its end, after {left[0].size:,} of {epoch.size:,} bytes",
                advice=_ADVICE,
            )
        found = likeness(rehearsal, trial, run)
        changed = found.differences
        if changed:
            how = f"{what}, and the job completes differently: {changed[0]}"
            return broken(trial, how, *changed[1:], advice=_ADVICE)
        if not found.is_known:
            return not_rehearsed(f"{what}: the job waits, and completes, but {found.doubt}")
        seen.append(f"{what}: the job waits, and completes{found.as_undisturbed}")
    if not seen:
        return not_rehearsed("the fault did not strike: the job never waited for the second half of an epoch")
    return kept(*seen)


PROMISE = Promise(
    name="stalled-pipe",
    statement="a Pipe stream that pauses does not change the model",
    reason_against=no_pipe_reason,
    rehearse=_rehearse,
)
