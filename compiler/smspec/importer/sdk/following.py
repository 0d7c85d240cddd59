"""Follow a program, cell by cell, without running it, and collect the jobs that it would start."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from smspec.importer.sdk.callables import SdkClass, is_decorated
from smspec.importer.sdk.conversions import copied
from smspec.importer.sdk.notebook import NotebookProgram, unreadable
from smspec.importer.sdk.program_calls import ProgramCalls
from smspec.importer.sdk.program_classes import replaced_in_subclasses, stored_attributes
from smspec.importer.sdk.replacements import replaced_by_class
from smspec.importer.sdk.values import (
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
from smspec.script.follow.evaluation import Evaluation
from smspec.script.follow.frames import Frame, Function
from smspec.script.follow.interpreter import TooManySteps
from smspec.script.script_files import tree_or_error
from smspec.source import SourceText

_ASSIGNED = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*[-+*/|]?=", re.MULTILINE)


class Following(ProgramCalls):
    """A program while it is followed, and the jobs that it would start."""

    def __init__(self, program: NotebookProgram) -> None:
        super().__init__()
        self.is_complete = True
        self.unreadable: list[str] = []
        self._constants: dict[str, dict[str, Value]] = {}
        self._classes: list[ast.ClassDef] = []
        try:
            self._follow(program)
        except (TooManySteps, RecursionError):
            self.is_complete = False

    def _follow(self, program: NotebookProgram) -> None:
        definitions: list[tuple[int, ast.stmt]] = []
        trees = [tree_or_error(SourceText("cell", cell.code)) for cell in program.cells]
        self._stored |= stored_attributes(tree for tree in trees if isinstance(tree, ast.Module))
        parts = [part for tree in trees if isinstance(tree, ast.Module) for part in ast.walk(tree)]
        self._classes = [part for part in parts if isinstance(part, ast.ClassDef)]
        for cell, tree in zip(program.cells, trees, strict=True):
            self._cell = cell.number
            if isinstance(tree, ast.Module) and cell.is_apart:
                self._follow_apart(tree)
            elif isinstance(tree, ast.Module):
                self._run.module(tree, self._frame)
            elif not cell.is_apart:
                self.unreadable.append(unreadable(cell, tree))
                for match in _ASSIGNED.finditer(cell.code):
                    self._frame.set(match[1], SdkUnknown(match[1]))
            for name in cell.sets:
                self._frame.set(name, SdkUnknown(name))
            if isinstance(tree, ast.Module) and not cell.is_apart:
                definitions += [(cell.number, node) for node in tree.body]
        for value in list(self._frame.names.values()):
            if isinstance(value, Function) and not value.was_called:
                self._enter(value)
        for number, node in definitions:
            self._cell = number
            kind = self._frame.names.get(node.name) if isinstance(node, ast.ClassDef) else None
            if isinstance(kind, SdkClass) and kind.kind:
                if kind.name not in self._constructed_classes:
                    self.found.starts.setdefault(SdkPlace(number, node.lineno), kind.name)
            elif isinstance(node, ast.ClassDef):
                with self._run.inside(self._frame):
                    bases = map(Evaluation(self._run, self._frame).value, node.bases)
                    self._replaced(replaced_by_class(node, bases), node, None)
                    self._follow_class(node, kind.methods if isinstance(kind, SdkClass) else {})
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and self._is_open(node):
                self._enter(self._function(node))

        self._enter_others()

    def _is_open(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Return whether other code than what is followed may call a function of the program."""
        if isinstance(node, ast.AsyncFunctionDef):
            return True
        return bool(node.decorator_list) and not any(one.node is node and one.was_called for _, one in self._defined)

    def _enter_others(self) -> None:
        """Follow functions that code outside may call: those that it has got, as names are now, and lambdas."""
        for number, function in self._handed:
            self._cell = number
            self._enter(function)
        called = {function.node for _, function in self._defined if function.was_called and not self._yields(function)}
        for number, function in self._defined:
            if function.node not in called | self._entered_nodes:
                self._cell = number
                self._enter(function)

    def _yields(self, function: Function) -> bool:
        """Return whether a function is a generator: what follows from its values is not followed."""
        return self._run.codes.of(function.node).yields

    def _follow_apart(self, tree: ast.Module) -> None:
        """Follow a cell that may run in another process: it has other names, or sets those of the notebook."""
        whole, self._frame = self._frame, Frame(SourceText("program", ""))
        self._run.module(tree, self._frame)
        for name in self._frame.names:
            whole.set(name, SdkUnknown(name))
        self._frame = whole

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
        plain = node if isinstance(node, ast.FunctionDef) else ast.FunctionDef(**vars(node))
        return Function(self._run, plain, self._frame, {})

    def _follow_class(self, node: ast.ClassDef, followed_methods: Mapping[str, Function]) -> None:
        """Follow the methods of a class that the program does not call, each with an instance after `__init__`.

        What other code of the program sets is unknown.
        """
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
        called = {name for name, function in followed_methods.items() if function.was_called}
        if start is not None and not called >= own.keys():
            self._enter(start, made)
        replaced = replaced_in_subclasses(node.name, self._classes) - {"__init__"}
        self._doubt_attributes(made, self._stored | replaced)
        for name in replaced & methods.keys():
            del methods[name]  # an object of a subclass has another one
        for function in own.values():
            if function is not start and not function.was_called and function.node.name not in called:
                instance = lifted(copied(made, {}))
                self._enter(function, *(() if is_decorated(function, "staticmethod") else (instance,)))

    def _doubt_attributes(self, made: SdkInstance, stored: set[str]) -> None:
        """Treat attributes that code outside of the constructor sets, or changes, as unknown."""
        for name, value in list(made.arguments.items()):
            if isinstance(value, SdkInstance):
                set_later = {word.removeprefix(f"{name}.") for word in stored if word.startswith(f"{name}.")}
                for inner in (stored & value.arguments.keys()) | set_later:
                    value.arguments[inner] = SdkUnknown(inner)
            elif isinstance(value, SdkItems | Entries) and {name, f"{name}="} & stored:
                forget(value)
            elif name in stored:
                made.arguments[name] = SdkUnknown(name)

    @property
    def names(self) -> dict[str, Value]:
        """The values of the names of the program, as a job is given them."""
        return {name: lowered(value, name) for name, value in self._frame.names.items()}
