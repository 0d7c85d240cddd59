"""StopTrainingJob: SIGTERM, and SIGKILL after two minutes. SageMaker keeps what the model directory has then."""

from __future__ import annotations

from smspec.local.interruption import Interruption
from smspec.local.units import duration
from smspec.rehearsal.moments import Moments
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal

_OF_THE_RUNTIME = 110.0
"""The seconds after which the runtime kills what is left, so that it can still report the failure."""

_ADVICE = (
    "end within 120 s of SIGTERM, for example with `signal.signal(signal.SIGTERM, ...)` and a flag that the training "
    "loop reads, or with `smspec_runtime.job().stopping`"
)


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    reference = rehearsal.undisturbed()[0]
    moment = Moments(reference.timeline, rehearsal.seed).at(0.5)
    grace = rehearsal.request.grace
    interruption = Interruption(moment=moment, grace=grace)
    trial = rehearsal.run("stop", interruption=interruption)
    if not trial.was_interrupted:
        return not_rehearsed("the job ended before it could be stopped")
    seconds, files = trial.seconds_to_end, trial.model_files
    model = f"{files} file{'s' if files > 1 else ''}" if files else "nothing"
    if seconds < 0.95 * min(grace, _OF_THE_RUNTIME):
        rehearsal.discard(trial.name)
        return kept(f"the job ended {duration(seconds)} after SIGTERM, with {model} in the model directory")
    return Outcome(
        state="broken",
        seen=(
            f"the job was still running {duration(seconds)} after SIGTERM, and was killed; "
            f"the model directory had {model}",
        ),
        advice=_ADVICE,
        trial=trial.name,
        moment=str(interruption),
        log=trial.last_log,
        directory=trial.directory,
    )


PROMISE = Promise(
    name="stop",
    statement="the job ends when it is stopped",
    reason_against=lambda _: None,
    rehearse=_rehearse,
)
