"""The effects of an assignment: on names, on their values, and on what the readers rely on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from smspec.script.call_effects import ENVIRONMENTS
from smspec.script.evaluation import Evaluation
from smspec.script.external_names import Named
from smspec.script.frame import Frame
from smspec.script.sequences import items
from smspec.script.values import UNKNOWN, Value, text

if TYPE_CHECKING:
    from smspec.script.interpreter import Interpreter


class Assignment:
    """Assignments in one frame."""

    def __init__(self, run: Interpreter, frame: Frame) -> None:
        self.run = run
        self.frame = frame
        self.value = Evaluation(run, frame).value

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            self.frame.set(target.id, value)
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value)
            if not self.run.is_certain:
                value.escape()
                value = UNKNOWN
            owner.set_attribute(target.attr, value)
            if isinstance(owner, Named):
                self.run.tampered_with(f"{owner.name}.{target.attr}")
        elif isinstance(target, ast.Subscript):
            self._set_item(target, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, UNKNOWN)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = items(value) or ()
            if len(parts) != len(target.elts) or any(isinstance(part, ast.Starred) for part in target.elts):
                value.escape()
                parts = (UNKNOWN,) * len(target.elts)
            for inner, part in zip(target.elts, parts, strict=True):
                self.assign(inner, part)

    def _set_item(self, target: ast.Subscript, value: Value) -> None:
        owner, key = self.value(target.value), self.value(target.slice)
        value.escape()
        owner.set_item()
        if not isinstance(owner, Named):
            key.escape()
        elif owner.name in ENVIRONMENTS:
            self.run.changed_variables.add(text(key) or "*")
        else:
            self.run.tampered_with(owner.name)
