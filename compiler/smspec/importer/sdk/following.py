"""Follow a program, cell by cell, without running it, and collect the jobs that it would start."""

from __future__ import annotations

import ast
import re

from smspec.importer.sdk.evaluation import SdkEvaluation
from smspec.importer.sdk.images import is_image_call
from smspec.importer.sdk.notebook import NotebookProgram, unreadable
from smspec.importer.sdk.sdk_facts import (
    PARAMETERS,
    SDK,
    Surroundings,
    is_builtin,
    is_job_class,
    leaves_arguments,
    method_of,
    result_of,
)
from smspec.importer.sdk.sdk_request import Job
from smspec.importer.sdk.statements import SdkStatements
from smspec.importer.sdk.values import (
    Entries,
    Names,
    Reference,
    SdkFunction,
    SdkInstance,
    SdkItems,
    SdkPlace,
    SdkUnknown,
    Value,
    copied,
    forget,
)
from smspec.script.follow.code import Codes
from smspec.script.script_files import tree_or_error
from smspec.source import SourceText

MOST_STEPS = 300_000
"""Expressions and statements: a long notebook has some thousands."""

MOST_JOBS = 200
_DEEPEST_CALL = 4
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASSIGNED = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*[-+*/|]?=", re.MULTILINE)


class ProgramTooLong(Exception):
    """Following the program takes too many steps."""


class Following:
    """The state of a program while it is followed."""

    def __init__(self, program: NotebookProgram) -> None:
        self.surroundings = Surroundings()
        self.names: Names = {}
        self.outer: Names | None = None
        self.cell = 0
        self.jobs: dict[tuple[SdkPlace, int, tuple[int, ...]], Job] = {}
        self.rounds: list[int] = []
        self.created: dict[SdkPlace, SdkInstance] = {}
        self.is_complete = True
        self.unreadable: list[str] = []
        self._outside: dict[str, SdkUnknown] = {}
        self._steps = 0
        self._depth = 0
        self._followed: set[int] = set()
        self._codes = Codes()
        self.evaluation = SdkEvaluation(self)
        self.statements = SdkStatements(self)
        try:
            self._follow(program)
        except ProgramTooLong:
            self.is_complete = False

    def _follow(self, program: NotebookProgram) -> None:
        for cell in program.cells:
            self.cell = cell.number
            tree = tree_or_error(SourceText("cell", cell.code))
            if isinstance(tree, ast.Module):
                self.statements.block(tree.body)
            else:
                self.unreadable.append(unreadable(cell, tree))
                self._skip(cell.code)
        for value in list(self.names.values()):
            if isinstance(value, SdkFunction) and id(value.node) not in self._followed:
                self.inlined(value, [], {}, is_whole=False)

    def _skip(self, code: str) -> None:
        """Treat what an unreadable cell may assign as unknown."""
        for match in _ASSIGNED.finditer(code):
            self.names[match[1]] = SdkUnknown(match[1])

    def step(self, count: int = 1) -> None:
        self._steps += count
        if self._steps > MOST_STEPS:
            raise ProgramTooLong

    def lookup(self, name: str) -> Value:
        if name in self.names:
            return self.names[name]
        if self.outer is not None and name in self.outer:
            return self.outer[name]
        return Reference(name) if is_builtin(name) else SdkUnknown(name)

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign to a name, an attribute, an item, or several."""
        if isinstance(target, ast.Name):
            self.names[target.id] = self.called(value, target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, value)
        elif isinstance(target, ast.Subscript):
            owner, key = self.evaluation.value(target.value), self.evaluation.value(target.slice)
            if isinstance(owner, Entries) and isinstance(key, str | int | float):
                owner.values[key] = self.called(value, str(key))
            elif isinstance(owner, SdkItems) and isinstance(key, int) and 0 <= key < len(owner.values):
                owner.values[key] = value
            else:
                forget(owner)
        elif isinstance(target, ast.Attribute):
            owner = self.evaluation.value(target.value)
            if isinstance(owner, SdkInstance):
                owner.arguments[target.attr] = value
            else:
                forget(owner)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, SdkUnknown())

    def _unpack(self, targets: list[ast.expr], value: Value) -> None:
        values: list[Value] = [SdkUnknown() for _ in targets]
        is_plain = not any(isinstance(target, ast.Starred) for target in targets)
        if isinstance(value, SdkItems) and value.is_known and len(value.values) == len(targets) and is_plain:
            values = value.values
        for target, item in zip(targets, values, strict=True):
            self.assign(target, item)

    def outside(self, reference: Reference) -> Value:
        """Return what something of a module is as an argument: unknown, except what belongs to the SDK."""
        if reference.name.startswith(f"{SDK}."):
            return reference
        name = reference.name.rpartition(".")[2]
        return self._outside.setdefault(reference.name, SdkUnknown(name))

    def called(self, value: Value, name: str) -> Value:
        """Return a value, named after where it is first used."""
        if isinstance(value, SdkUnknown | SdkInstance) and not value.name:
            value.name = name
        return value

    def forget_changed(self, nodes: list[ast.AST]) -> None:
        """Treat as unknown what these nodes may assign, and the collections that they may change."""
        for top in nodes:
            code = self._codes.of(top)
            own = {top.name} if isinstance(top, _DEFINITIONS) else code.stored
            self.names.update({name: SdkUnknown(name) for name in sorted(own | code.shared)})
            for node in ast.walk(top):
                self.step()
                if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
                    self._forget_root(node.value)
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    self._forget_root(node.func.value)

    def _forget_root(self, node: ast.expr) -> None:
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name):
            value = self.lookup(node.id)
            if isinstance(value, SdkItems | Entries):
                forget(value)

    def inlined(
        self, function: SdkFunction, positional: list[Value], named: dict[str, Value], *, is_whole: bool
    ) -> Value:
        """Return the result of a function of the program: its statements are followed."""
        node = function.node
        self._followed.add(id(node))
        self.names.update({name: SdkUnknown(name) for name in sorted(self._codes.of(node).shared)})
        parameters = [*node.args.posonlyargs, *node.args.args]
        is_plain = not (node.decorator_list or node.args.vararg or node.args.kwarg or len(positional) > len(parameters))
        if not is_plain or self._depth >= _DEEPEST_CALL:
            for value in (*positional, *named.values()):
                forget(value)
            return SdkUnknown()
        names: Names = {}
        first = len(parameters) - len(node.args.defaults)
        for index, parameter in enumerate(parameters):
            if index < len(positional):
                names[parameter.arg] = positional[index]
            elif parameter.arg in named:
                names[parameter.arg] = named[parameter.arg]
            else:
                has_default = is_whole and index >= first
                default = node.args.defaults[index - first] if has_default else None
                names[parameter.arg] = self.evaluation.value(default) if default else SdkUnknown(parameter.arg)
        for keyword, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            given = named.get(keyword.arg)
            is_given = keyword.arg in named or not (is_whole and default)
            names[keyword.arg] = (given or SdkUnknown(keyword.arg)) if is_given else self.evaluation.value(default)
        return self._inside(node.body, names)

    def _inside(self, body: list[ast.stmt], names: Names) -> Value:
        before, outer, results = self.names, self.outer, self.statements.results
        self.outer = before if outer is None else {**outer, **before}
        self.names, self.statements.results = names, []
        self._depth += 1
        try:
            ending = self.statements.block(body)
            returned = self.statements.results
        finally:
            self._depth -= 1
            self.names, self.outer, self.statements.results = before, outer, results
        if ending == "return" and len(returned) == 1:
            return returned[0]
        return SdkUnknown() if returned else None

    def called_reference(
        self, name: str, positional: list[Value], named: dict[str, Value], place: SdkPlace, *, is_whole: bool
    ) -> Value:
        """Return the result of something of a module."""
        if name == "dict" and is_whole and len(positional) <= 1:
            found = Entries({})
            method_of(found, "update", list(positional), named)
            return found
        known = result_of(name, positional, named, self.surroundings) if is_whole else None
        if known is not None:
            return known
        if name.startswith((f"{SDK}.", f"{SDK}_core.", "boto3.")):
            if name.endswith(".ModelTrainer.from_recipe"):
                name, named = name.removesuffix(".from_recipe"), {"training_recipe": True, **named}
            instance = SdkInstance(name, positional, named, place)
            instance.is_known = is_whole
            if name.endswith(PARAMETERS):
                given = named.get("name", positional[0] if positional else None)
                return SdkUnknown(given if isinstance(given, str) else "", is_text=name.endswith("String"))
            if is_image_call(instance) and (not is_whole or "model_id" in named):
                return SdkUnknown("training_image", is_text=True)
            if is_job_class(name) and len(self.created) < MOST_JOBS:
                self.created.setdefault(place, instance)
            self._passed_estimator(instance, place)
            return instance
        if not leaves_arguments(name):
            for value in (*positional, *named.values()):
                forget(value)
        return SdkUnknown()

    def called_method(
        self,
        owner: SdkInstance,
        name: str,
        positional: list[Value],
        named: dict[str, Value],
        place: SdkPlace,
        *,
        is_whole: bool,
    ) -> Value:
        """Return the result of a method of an object of the SDK."""
        if name == "default_bucket":
            return owner.arguments.get("default_bucket", self.surroundings.bucket)
        if name == "upload_data":
            return SdkUnknown(is_text=True)
        if name == "set_hyperparameters":
            given = owner.arguments.setdefault("set_hyperparameters", Entries({}))
            if isinstance(given, Entries):
                given.values.update(named)
                given.is_known &= is_whole
        elif name in ("fit", "train") and not name.startswith("_"):
            self._started(owner, SdkInstance(name, positional, named, place), is_whole=is_whole)
        if name.startswith("with_") and owner.kind.endswith(".ModelTrainer"):
            given = positional[0] if positional else next(iter(named.values()), None)
            owner.arguments[name] = given if is_whole else SdkUnknown(name)
            return owner
        if name in ("client", "resource", "Session"):
            return SdkInstance(f"{owner.kind}.{name}", positional, named, place)
        if name == "get_caller_identity":
            return Reference("boto3.caller_identity")
        return SdkUnknown()

    def _started(self, owner: SdkInstance, call: SdkInstance, *, is_whole: bool) -> None:
        """Record a job; for a tuner, that of its estimator."""
        call.is_known = is_whole
        if not is_job_class(owner.kind):
            inner = owner.arguments.get("estimator", owner.positional[0] if owner.positional else None)
            if not (owner.kind.rpartition(".")[2] == "HyperparameterTuner" and isinstance(inner, SdkInstance)):
                return
            self._record(inner, call, "a tuning job")
            return
        self._record(owner, call, "")

    def _passed_estimator(self, instance: SdkInstance, place: SdkPlace) -> None:
        """Record the job of a step of a pipeline."""
        estimator = instance.arguments.get("estimator")
        if instance.kind.rpartition(".")[2] == "TrainingStep" and isinstance(estimator, SdkInstance):
            inputs = {"inputs": instance.arguments["inputs"]} if "inputs" in instance.arguments else {}
            self._record(estimator, SdkInstance("fit", [], inputs, place), "a step of a pipeline")

    def _record(self, owner: SdkInstance, call: SdkInstance, part_of: str) -> None:
        key = (owner.place, call.place.cell * 1_000_000 + call.place.line, tuple(self.rounds))
        if is_job_class(owner.kind) and key not in self.jobs and len(self.jobs) < MOST_JOBS:
            self.step(100)
            memo: dict[int, Value] = {}
            estimator, started = copied(owner, memo), copied(call, memo)
            if isinstance(estimator, SdkInstance) and isinstance(started, SdkInstance):
                self.jobs[key] = Job(estimator=estimator, call=started, part_of=part_of)

    def found_jobs(self) -> list[Job]:
        """Return the jobs that are started, and those of estimators that are only created, in order."""
        jobs = list(self.jobs.values())
        started = {job.estimator.place for job in jobs}
        unused = [made for place, made in self.created.items() if place not in started]
        jobs += [Job(estimator=made, call=None, part_of="") for made in unused]
        return sorted(jobs, key=lambda job: (job.place.cell, job.place.line))
