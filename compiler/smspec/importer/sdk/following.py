"""Follow a program, cell by cell, without running it, and collect the jobs that it would start."""

from __future__ import annotations

import ast
import re

from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.call_requests import CALL, UNPACKED, is_request, name_of, region_of
from smspec.importer.sdk.images import is_image_call
from smspec.importer.sdk.notebook import NotebookProgram, unreadable
from smspec.importer.sdk.sdk_domain import SdkDomain, alike, copied, doubt_names, shallow
from smspec.importer.sdk.sdk_facts import (
    PARAMETERS,
    REMOTE,
    SDK,
    Surroundings,
    attribute_of,
    is_job_class,
    item_of,
    leaves_arguments,
    result_of,
)
from smspec.importer.sdk.sdk_request import QUEUE, Job
from smspec.importer.sdk.values import (
    Collection,
    Entries,
    SdkInstance,
    SdkItems,
    SdkPlace,
    SdkUnknown,
    Value,
    forget,
    lifted,
    lowered,
)
from smspec.script.follow import values as followed
from smspec.script.follow.evaluation import Evaluation
from smspec.script.follow.frames import Call, Frame, Function
from smspec.script.follow.interpreter import ProgramInterpreter, Recorder, TooManySteps
from smspec.script.follow.values import UNKNOWN, Bound, Named
from smspec.script.script_files import tree_or_error
from smspec.source import SourceText, Span

MOST_STEPS = 300_000
"""Expressions and statements: a long notebook has some thousands."""

MOST_JOBS = 200
_ASSIGNED = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*[-+*/|]?=", re.MULTILINE)


class Following(Recorder):
    """A program while it is followed, and the jobs that it would start."""

    def __init__(self, program: NotebookProgram) -> None:
        self.surroundings = Surroundings()
        self.jobs: dict[tuple[SdkPlace, int, tuple[int, ...]], list[Job]] = {}
        self.created: dict[SdkPlace, SdkInstance] = {}
        self.is_complete = True
        self.unreadable: list[str] = []
        self.unknown_calls: list[SdkPlace] = []
        self.others: dict[SdkPlace, str] = {}
        self._cell = 0
        self._methods: dict[str, dict[str, Function]] = {}
        self._constants: dict[str, dict[str, Value]] = {}
        self._run = ProgramInterpreter(self, lambda _, __: None, SdkDomain(self._step), most_steps=MOST_STEPS)
        self._frame = Frame(SourceText("program", ""))
        try:
            self._follow(program)
        except (TooManySteps, RecursionError):
            self.is_complete = False

    def _step(self, count: int) -> None:
        self._run.step(count)

    def _follow(self, program: NotebookProgram) -> None:
        definitions: list[tuple[int, ast.stmt]] = []
        for cell in program.cells:
            self._cell = cell.number
            tree = tree_or_error(SourceText("cell", cell.code))
            if isinstance(tree, ast.Module):
                self._run.module(tree, self._frame)
            else:
                self.unreadable.append(unreadable(cell, tree))
                for match in _ASSIGNED.finditer(cell.code):
                    self._frame.set(match[1], SdkUnknown(match[1]))
            if isinstance(tree, ast.Module):
                definitions += [(cell.number, node) for node in tree.body]
        for value in list(self._frame.names.values()):
            if isinstance(value, Function) and not value.was_called:
                self._enter(value)
        for number, node in definitions:
            self._cell = number
            if isinstance(node, ast.ClassDef):
                self._follow_class(node)
            elif isinstance(node, ast.AsyncFunctionDef) or (isinstance(node, ast.FunctionDef) and node.decorator_list):
                self._enter(self._function(node))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
        plain = node if isinstance(node, ast.FunctionDef) else ast.FunctionDef(**vars(node))
        return Function(self._run, plain, self._frame, {})

    def _bare(self, *, is_whole: bool) -> Call:
        """Return a call that the program does not write, without arguments."""
        bare = ast.Call(func=ast.Constant(value=None), args=[], keywords=[], lineno=1, col_offset=0)
        return Call(self._run, bare, (), {}, is_whole)

    def _enter(self, function: Function, *first: followed.Value) -> None:
        """Follow a function that the program does not call, with unknown arguments."""
        names = dict(self._frame.names)
        self._run.entered(function, self._bare(is_whole=False), first)
        self._frame.names = names

    def _follow_class(self, node: ast.ClassDef) -> None:
        """Follow the methods of a class that the program does not call, each with an instance after `__init__`."""
        made = SdkInstance(f"class {node.name}", [], {}, SdkPlace(self._cell, node.lineno))
        methods = self._methods[made.kind] = {}
        for base in node.bases:
            above = f"class {base.id}" if isinstance(base, ast.Name) else ""
            methods.update(self._methods.get(above, {}))
            made.arguments.update(self._constants.get(above, {}))
        own = {
            part.name: self._function(part)
            for part in node.body
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        methods.update(own)
        evaluation = Evaluation(self._run, self._frame)
        for part in node.body:
            if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None:
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                value = evaluation.value(part.value)
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                made.arguments.update({name: lowered(value, name) for name in names})
        self._constants[made.kind] = dict(made.arguments)
        start = methods.get("__init__")
        if start is not None:
            self._enter(start, made)
        for function in own.values():
            if function is not start and not function.was_called:
                instance = lifted(copied(made, {}))
                self._enter(function, *(() if _is_decorated(function, "staticmethod") else (instance,)))

    @property
    def names(self) -> dict[str, Value]:
        """The values of the names of the program, as a job is given them."""
        return {name: lowered(value, name) for name, value in self._frame.names.items()}

    def attribute(self, owner: followed.Value, name: str) -> followed.Value | None:
        function = self._methods.get(owner.kind, {}).get(name) if isinstance(owner, SdkInstance) else None
        if function is not None and _is_decorated(function, "property"):
            return self._run.entered(function, self._bare(is_whole=True), (owner,))
        known = attribute_of(owner, name, self.surroundings)
        return None if known is None else lifted(known)

    def item(self, owner: followed.Value, key: followed.Value) -> followed.Value | None:
        return item_of(owner, key, self.surroundings)

    def looked_up(self, run: ProgramInterpreter, name: str, key: followed.Value, _place: Span) -> followed.Value | None:
        return item_of(Named(name, run), key, self.surroundings)

    def called(self, name: str, call: Call) -> followed.Value:
        if name.endswith(f".{CALL}") and self._requested(call, None):
            return UNKNOWN
        if name == "exec" and (len(call.node.args) < 2 or isinstance(call.node.args[1], ast.Call)):
            doubt_names(self._frame)
        return lifted(self._called(self._made(name, call)))

    def method_called(self, owner: followed.Value, name: str, call: Call) -> followed.Value | None:
        if name == CALL and self._requested(call, owner):
            return UNKNOWN
        if not isinstance(owner, SdkInstance):
            if name in ("submit", "map") and isinstance(call.keywords.get("training_job"), SdkInstance):
                self._queued(None, self._made(name, call), is_list=name == "map")
            return call.unknown_result() if isinstance(owner, Bound) else None
        function = self._methods.get(owner.kind, {}).get(name)
        if function is not None:
            return self._run.entered(function, call, () if _is_decorated(function, "staticmethod") else (owner,))
        return lifted(self._method_called(owner, self._made(name, call)))

    def _made(self, name: str, call: Call) -> SdkInstance:
        """Return a call as what it would make."""
        named = {word: lowered(value, word) for word, value in call.keywords.items() if word != "**"}
        made = SdkInstance(name, list(map(lowered, call.arguments)), named, SdkPlace(self._cell, call.node.lineno))
        made.is_known = call.is_whole
        return made

    def _called(self, call: SdkInstance) -> Value:
        """Return the result of something of a module."""
        name, positional, named = call.kind, call.positional, call.arguments
        if name == "dict" and call.is_known and len(positional) <= 1:
            found = Entries({})
            found.update(positional[0] if positional else Entries({}), named)
            return found
        if name in ("copy.copy", "copy.deepcopy") and call.is_known and len(positional) == 1 and not named:
            return copied(positional[0], {}) if name == "copy.deepcopy" else shallow(positional[0])
        known = result_of(name, positional, named, self.surroundings) if call.is_known else None
        if known is not None:
            return known
        if name.startswith((f"{SDK}.", f"{SDK}_core.", "boto3.")):
            if name.endswith(".ModelTrainer.from_recipe"):
                call.kind, call.arguments = name.removesuffix(".from_recipe"), {"training_recipe": True, **named}
            if name.endswith(PARAMETERS):
                given = named.get("name", positional[0] if positional else None)
                return SdkUnknown(given if isinstance(given, str) else "", is_text=name.endswith("String"))
            if is_image_call(call) and (not call.is_known or "model_id" in named):
                return SdkUnknown("training_image", is_text=True)
            if is_job_class(call.kind) and len(self.created) < MOST_JOBS:
                self.created.setdefault(call.place, call)
            if name.endswith(REMOTE) and ".remote_function" in name:
                self.others[call.place] = name
            self._passed_estimator(call)
            return call
        if not leaves_arguments(name):
            for value in call.members().values():
                forget(value)
        return UNKNOWN

    def _method_called(self, owner: SdkInstance, call: SdkInstance) -> Value:
        """Return the result of a method of an object of the SDK."""
        name = call.kind
        given = call.positional[0] if call.positional else next(iter(call.arguments.values()), None)
        if name == "default_bucket":
            bucket = owner.arguments.get("default_bucket")
            return self.surroundings.bucket if bucket is None else bucket
        if name == "upload_data":
            return SdkUnknown(is_text=True)
        if name == "set_hyperparameters":
            known = owner.arguments.setdefault("set_hyperparameters", Entries({}))
            if isinstance(known, Entries):
                known.values.update(call.arguments)
                known.is_known &= call.is_known
        elif name in ("fit", "train"):
            self._started(owner, call)
        elif name in ("submit", "map"):
            self._queued(owner, call, is_list=name == "map")
        elif name.startswith("with_") and owner.kind.endswith(".ModelTrainer"):
            owner.arguments[name] = given if call.is_known else SdkUnknown(name)
            return owner
        elif name in ("client", "resource", "Session"):
            call.kind = f"{owner.kind}.{name}"
            if region_of(call) is None and region_of(owner) is not None:
                call.arguments["region_name"] = region_of(owner)
            return call
        elif name == "get_caller_identity":
            return Named("boto3.caller_identity")
        return UNKNOWN

    def _requested(self, call: Call, client: followed.Value | None) -> bool:
        """Record the job that a call of boto3 starts; return whether it is one."""
        made = self._made(f"boto3.{CALL}", call)
        if UNPACKED in call.keywords:
            made.arguments[UNPACKED] = lowered(call.keywords[UNPACKED])
        if not is_request(made):
            return False
        if made.arguments.keys() == {UNPACKED} and not isinstance(made.arguments[UNPACKED], Entries):
            self.unknown_calls.append(made.place)
            return True
        made.name = name_of(made.arguments.get("TrainingJobName"))
        region = region_of(client) if isinstance(client, SdkInstance) else None
        if region is not None:
            made.arguments["region"] = region
        self._record(made, made, "")
        return True

    def _started(self, owner: SdkInstance, call: SdkInstance) -> None:
        """Record a job; for a tuner, that of its estimator."""
        if is_job_class(owner.kind):
            self._record(owner, call, "")
            return
        inner = owner.arguments.get("estimator", owner.positional[0] if owner.positional else None)
        if owner.kind.rpartition(".")[2] == "HyperparameterTuner" and isinstance(inner, SdkInstance):
            self._record(inner, call, "a tuning job")
        elif owner.kind.startswith((f"{SDK}.", f"{SDK}_core.")):
            self.others[owner.place] = owner.kind

    def _queued(self, queue: SdkInstance | None, call: SdkInstance, *, is_list: bool) -> None:
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
            self._run.rounds.append(number)
            self._record(trainer, started, "a service job of AWS Batch")
            self._run.rounds.pop()

    def _passed_estimator(self, instance: SdkInstance) -> None:
        """Record the job of a step of a pipeline."""
        estimator = instance.arguments.get("estimator")
        if instance.kind.rpartition(".")[2] == "TrainingStep" and isinstance(estimator, SdkInstance):
            inputs = {"inputs": instance.arguments["inputs"]} if "inputs" in instance.arguments else {}
            self._record(estimator, SdkInstance("fit", [], inputs, instance.place), "a step of a pipeline")

    def _record(self, owner: SdkInstance, call: SdkInstance, part_of: str) -> None:
        """Record a job. A function that is called again starts another one, if that differs in what is known."""
        key = (owner.place, call.place.cell * 1_000_000 + call.place.line, tuple(self._run.rounds))
        if not (is_job_class(owner.kind) or owner is call) or sum(map(len, self.jobs.values())) >= MOST_JOBS:
            return
        self._step(100)
        here = self.jobs.setdefault(key, [])
        if any(alike(job.estimator, owner) and alike(job.call, call) for job in here):
            return
        memo: dict[int, Collection] = {}
        estimator, started = copied(owner, memo), copied(call, memo)
        if isinstance(estimator, SdkInstance) and isinstance(started, SdkInstance):
            here.append(Job(estimator=estimator, call=started, part_of=part_of))

    def found_jobs(self) -> list[Job]:
        """Return the jobs that are started, and those of estimators that are only created, in order."""
        jobs = [job for here in self.jobs.values() for job in here]
        started = {job.estimator.place for job in jobs}
        unused = [made for place, made in self.created.items() if place not in started]
        jobs += [Job(estimator=made, call=None, part_of="") for made in unused]
        return sorted(jobs, key=lambda job: (job.place.cell, job.place.line))


def _is_decorated(function: Function, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in function.node.decorator_list)
