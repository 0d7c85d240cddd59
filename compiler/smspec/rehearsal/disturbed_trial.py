"""How a job ended whose surroundings failed once: what the promises about them have in common."""

from __future__ import annotations

from collections.abc import Callable

from smspec.local.surroundings import SurroundingFaults
from smspec.local.units import duration
from smspec.rehearsal.interruptions import compared, described, listed
from smspec.rehearsal.promise import Outcome
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.trial import Trial
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """``differences`` from undisturbed runs, in words. ``is_known``: something in all of them is equal.

    ``is_whole``: everything in their models is. ``left_out``: what is not, in words.
    """

    differences: tuple[str, ...]
    is_known: bool
    is_whole: bool
    left_out: str

    @property
    def as_undisturbed(self) -> str:
        """How a job completed in which no difference was found, as the end of a sentence."""
        return f" as undisturbed, except what was not compared: {self.left_out}" if self.left_out else " as undisturbed"

    @property
    def doubt(self) -> str:
        """Why the models may differ although no difference was found."""
        if not self.is_known:
            return f"nothing can be compared: {self.left_out or 'the job has no model and no metrics'}"
        return self.left_out or "undisturbed runs differ in some values of the model"


def time_limit(rehearsal: Rehearsal) -> float:
    """Return the seconds after which a disturbed run counts as one that hangs."""
    return 2 * rehearsal.undisturbed()[0].seconds + rehearsal.patience


def run_with(rehearsal: Rehearsal, name: str, *, faults: SurroundingFaults, **changes: object) -> Trial:
    """Run the job once with faults of its surroundings."""
    return rehearsal.run(name, faults=faults, **changes)


def hangs(trial: Trial) -> bool:
    """Return whether the time limit ended the run."""
    return trial.summary.status == "Stopped"


def hanging(rehearsal: Rehearsal, trial: Trial, what: str, advice: str) -> Outcome:
    """Return the outcome of a job that does not end. ``what``: the fault, as a clause."""
    count = len(trial.hosts)
    billed = f"{count} instances are" if count != 1 else "the instance is"
    undisturbed = duration(rehearsal.undisturbed()[0].seconds)
    return broken(
        trial,
        f"hangs: {what}, and the job is still running after {duration(trial.seconds)} ({undisturbed} undisturbed)",
        f"{billed} billed until `stopping.max_runtime`, or until a timeout of the script ends the wait",
        advice=advice,
    )


def broken(trial: Trial, *seen: str, advice: str) -> Outcome:
    """Return the outcome of a broken promise."""
    return Outcome(
        state="broken", seen=seen, advice=advice, trial=trial.name, log=trial.last_log, directory=trial.directory
    )


def failure_of(trial: Trial) -> str:
    """Return the first line of the failure reason."""
    return trial.summary.failure_reason.partition("\n")[0] or trial.summary.status


def likeness(rehearsal: Rehearsal, trial: Trial, again: Callable[[str], Trial]) -> Likeness:
    """Compare the model and the metrics of a completed job with those of undisturbed runs.

    ``again`` runs the job with the same fault, and takes the name of the run.
    """
    comparison = compared(rehearsal, trial, lambda number: again(f"{trial.name}-again-{number}"))
    return Likeness(
        differences=described(comparison.differences),
        is_known=bool(comparison.compared),
        is_whole=comparison.is_whole,
        left_out=listed(comparison.left_out),
    )
