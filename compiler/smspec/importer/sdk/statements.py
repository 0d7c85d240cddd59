"""Follow statements: both branches where the condition is unknown, loops as far as their items are known."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from smspec.importer.sdk.evaluation import truth
from smspec.importer.sdk.values import (
    Entries,
    Names,
    Reference,
    SdkFunction,
    SdkItems,
    SdkUnknown,
    Value,
    copied_names,
    merge_names,
)

if TYPE_CHECKING:
    from smspec.importer.sdk.following import Following

Ending = Literal["return", "raise", "jump"]
MOST_ROUNDS = 64
_LEAVES = (ast.Break, ast.Continue, ast.Return)


class SdkStatements:
    """The statements of a program; ``results`` are what the current function returns."""

    def __init__(self, run: Following) -> None:
        self.run = run
        self.results: list[Value] = []

    def block(self, body: Sequence[ast.stmt]) -> Ending | None:
        """Follow statements in order; return how they end early, if they certainly do."""
        for statement in body:
            self.run.step()
            ending = self._follow(statement)
            if ending is not None:
                return ending
        return None

    def _follow(self, node: ast.stmt) -> Ending | None:
        value = self.run.evaluation.value
        match node:
            case ast.Expr():
                value(node.value)
            case ast.Assign():
                found = value(node.value)
                for target in node.targets:
                    self.run.assign(target, found)
            case ast.AnnAssign():
                if node.value is not None:
                    self.run.assign(node.target, value(node.value))
            case ast.AugAssign():
                self._augment(node)
            case ast.Return():
                self.results.append(value(node.value))
                return "return"
            case ast.Raise():
                return "raise"
            case ast.Break() | ast.Continue():
                return "jump"
            case ast.If():
                return self._if(node)
            case ast.For():
                self._for(node)
            case ast.While():
                self._while(node)
            case ast.Try():
                return self._try(node)
            case ast.With():
                for item in node.items:
                    value(item.context_expr)
                    if item.optional_vars is not None:
                        self.run.assign(item.optional_vars, SdkUnknown())
                return self.block(node.body)
            case ast.FunctionDef():
                self.run.names[node.name] = SdkUnknown(node.name) if node.decorator_list else SdkFunction(node)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Pass() | ast.Assert():
                pass
            case _:
                self.run.forget_changed([node])
        return None

    def _augment(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            both = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
            self.run.assign(node.target, self.run.evaluation.value(both))
        else:
            self.run.forget_changed([node])

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name in node.names:
            if isinstance(node, ast.Import):
                bound = name.asname or name.name.partition(".")[0]
                self.run.names[bound] = Reference(name.name if name.asname else bound)
            elif name.name != "*":
                module = "." * node.level + (node.module or "")
                self.run.names[name.asname or name.name] = Reference(f"{module}.{name.name}")

    def _if(self, node: ast.If) -> Ending | None:
        test = truth(self.run.evaluation.value(node.test))
        if test is not None:
            return self.block(node.body if test else node.orelse)
        return self._either([node.body, node.orelse])

    def _either(self, bodies: Sequence[Sequence[ast.stmt]], *, keeps_new: bool = False) -> Ending | None:
        """Follow each of several bodies from the same state; what differs after them is unknown.

        ``keeps_new``: what only the first of them defines is kept, because nothing else can define it.
        """
        run = self.run
        memo: dict[int, Value] = {}
        before = copied_names(run.names, memo)
        run.step(10 + len(memo) + len(before))
        endings: list[Ending | None] = []
        kept: list[Names] = []
        returned = len(self.results)
        for index, body in enumerate(bodies):
            if index:
                run.names = copied_names(before, {})
            endings.append(self.block(body))
            if endings[-1] is None or endings[-1] == "jump":
                kept.append(run.names)
        if not kept:
            return endings[0] if len(set(endings)) == 1 else "return"
        for other in kept[1:]:
            run.step(len(other))
            merge_names(kept[0], other, keeps_new=keeps_new)
        run.names = kept[0]
        if len(self.results) > returned:  # it may have returned
            self.results += [SdkUnknown(), SdkUnknown()]
        return None

    def _for(self, node: ast.For) -> None:
        items = self.run.evaluation.value(node.iter)
        values: list[Value] | None = None
        if isinstance(items, SdkItems) and items.is_known:
            values = list(items.values)
        elif isinstance(items, Entries) and items.is_known:
            values = [key for key in items.values if isinstance(key, bool | int | float | str | None)]
        has_leaves = any(isinstance(inner, _LEAVES) for part in node.body for inner in ast.walk(part))
        if values is None or len(values) > MOST_ROUNDS or has_leaves or node.orelse:
            self._some_rounds(node, node.target)
            return
        for number, value in enumerate(values):
            self.run.assign(node.target, value)
            self.run.rounds.append(number)  # each round starts a job of its own
            self.block(node.body)
            self.run.rounds.pop()

    def _while(self, node: ast.While) -> None:
        self._some_rounds(node, None)

    def _some_rounds(self, node: ast.For | ast.While, target: ast.expr | None) -> None:
        """Follow one round in which all that a round changes is unknown."""
        self.run.forget_changed([*node.body, *node.orelse])
        if target is not None:
            self.run.assign(target, SdkUnknown())
        results = len(self.results)
        self.block(node.body)
        if len(self.results) > results:
            self.results.append(SdkUnknown())
        self.run.forget_changed([*node.body, *node.orelse, *([target] if target is not None else [])])

    def _try(self, node: ast.Try) -> Ending | None:
        bodies = [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
        ending = self._either(bodies, keeps_new=True)
        return self.block(node.finalbody) or ending
