"""What following a program has found: the jobs that it starts, and calls of which only a run knows what they start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.conversions import copied
from smspec.importer.sdk.sdk_domain import alike
from smspec.importer.sdk.sdk_facts import SDK, is_job_class
from smspec.importer.sdk.sdk_request import QUEUE, Job
from smspec.importer.sdk.values import Collection, Entries, SdkInstance, SdkItems, SdkPlace, SdkUnknown

if TYPE_CHECKING:
    from smspec.script.follow.interpreter import ProgramInterpreter

MOST_JOBS = 200


class FoundJobs:
    """``unknown_calls`` of boto3, with a reason or none; ``others``: the full names of other classes that start jobs.

    ``makers`` may make an estimator, ``starts`` may start a job, ``elsewhere`` may set names: each by its text.
    ``replaced``: what of the SDK the program replaces.
    """

    def __init__(self) -> None:
        self.unknown_calls: dict[SdkPlace, str] = {}
        self.others: dict[SdkPlace, str] = {}
        self.makers: dict[SdkPlace, str] = {}
        self.starts: dict[SdkPlace, str] = {}
        self.elsewhere: dict[SdkPlace, str] = {}
        self.replaced: dict[SdkPlace, str] = {}
        self._jobs: dict[tuple[SdkPlace, int, tuple[int, ...]], list[Job]] = {}
        self._created: list[SdkInstance] = []

    def made(self, run: ProgramInterpreter, estimator: SdkInstance) -> None:
        """Record an estimator or trainer. One of the same line that is alike in what is known is recorded once."""
        here = [each for each in self._created if each.place == estimator.place]
        run.step(len(here))  # a function that its own arguments call again makes thousands, each compared with all
        if len(self._created) < MOST_JOBS and not any(alike(each, estimator) for each in here):
            estimator.number = len(self._created) + 1
            self._created.append(estimator)
        else:
            estimator.number = next((each.number for each in here if alike(each, estimator)), 0)

    def record(self, run: ProgramInterpreter, owner: SdkInstance, call: SdkInstance, part_of: str) -> None:
        """Record a job. A function that is called again starts another one, if that differs in what is known."""
        key = (owner.place, call.place.cell * 1_000_000 + call.place.line, tuple(run.rounds))
        if not (is_job_class(owner.kind) or owner is call) or sum(map(len, self._jobs.values())) >= MOST_JOBS:
            return
        run.step(100)
        here = self._jobs.setdefault(key, [])
        if any(alike(job.estimator, owner) and alike(job.call, call) for job in here):
            return
        memo: dict[int, Collection] = {}
        estimator, started = copied(owner, memo), copied(call, memo)
        if isinstance(estimator, SdkInstance) and isinstance(started, SdkInstance):
            here.append(Job(estimator=estimator, call=started, part_of=part_of))

    def started(self, run: ProgramInterpreter, owner: SdkInstance, call: SdkInstance) -> None:
        """Record a job; for a tuner, that of its estimator."""
        if is_job_class(owner.kind):
            self.record(run, owner, call, "")
            return
        inner = owner.arguments.get("estimator", owner.positional[0] if owner.positional else None)
        if owner.kind.rpartition(".")[2] == "HyperparameterTuner" and isinstance(inner, SdkInstance):
            self.record(run, inner, call, "a tuning job")
        elif owner.kind.startswith((f"{SDK}.", f"{SDK}_core.")):
            self.others[owner.place] = owner.kind

    def queued(self, run: ProgramInterpreter, queue: SdkInstance | None, call: SdkInstance, *, is_list: bool) -> None:
        """Record a job that goes to a queue of AWS Batch; with a list of inputs, one for each."""
        given = arguments_of(call)
        trainer, inputs = given.pop("training_job", None), given.pop("inputs", None)
        if not isinstance(trainer, SdkInstance):
            return
        rest = Entries({"queue_name": arguments_of(queue).get("queue_name") if queue else SdkUnknown("queue")})
        rest.values.update(given)
        name = "input_data_config" if trainer.kind.endswith(".ModelTrainer") else "inputs"
        listed = inputs.values if is_list and isinstance(inputs, SdkItems) and inputs.is_known else [inputs]
        for number, value in enumerate(listed):
            started = SdkInstance(call.kind, [], {name: value, QUEUE: rest}, call.place)
            started.is_known = call.is_known
            run.rounds.append(number)
            self.record(run, trainer, started, "a service job of AWS Batch")
            run.rounds.pop()

    def passed_estimator(self, run: ProgramInterpreter, instance: SdkInstance) -> None:
        """Record the job of a step of a pipeline."""
        estimator = instance.arguments.get("estimator")
        if instance.kind.rpartition(".")[2] == "TrainingStep" and isinstance(estimator, SdkInstance):
            inputs = {"inputs": instance.arguments["inputs"]} if "inputs" in instance.arguments else {}
            self.record(run, estimator, SdkInstance("fit", [], inputs, instance.place), "a step of a pipeline")

    def jobs(self) -> list[Job]:
        """Return the jobs that are started, and those of estimators that are only created, in order."""
        jobs = [job for here in self._jobs.values() for job in here]
        started = {job.estimator.number for job in jobs}
        unused = [made for made in self._created if made.number not in started]
        starts = [f"{place}: `{text}` may start this job" for place, text in self.starts.items() if "." in text]
        start = f"{starts[0]}, with inputs that only a run has" if starts else ""
        jobs += [Job(estimator=made, call=None, part_of="", start=start) for made in unused]
        return sorted(jobs, key=lambda job: (job.place.cell, job.place.line))
