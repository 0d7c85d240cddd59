"""Values that are known only by name: something of another module, or a builtin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from smspec.script.values import Value

if TYPE_CHECKING:
    import ast

    from smspec.script.call import Call
    from smspec.script.interpreter import Interpreter

_HARMLESS = ("torch.distributed.elastic.multiprocessing.errors.record", "click.pass_context")
"""Decorators that do not change how a function runs."""


class Named(Value):
    """Something of another module, or a builtin, by its full name: ``os.environ``."""

    def __init__(self, name: str, run: Interpreter | None = None) -> None:
        self.name = name
        self._run = run

    def escape(self) -> None:
        if self._run is not None:
            self._run.handed_on(self.name)

    def escape_by(self, _: Iterable[str]) -> None:
        """Another module is safe where its attributes are written out; `leak` checks those."""

    def is_failure(self, _: Callable[[ast.expr], bool]) -> bool:
        return self.name not in ("SystemExit", "BaseException")

    def look_through(self) -> None:
        """Let the strings in it escape; that changes nothing."""

    def attribute(self, name: str) -> Value:
        return Named(f"{self.name}.{name}", self._run)

    def call(self, call: Call) -> Value:
        return call.run.called(self.name, call)

    def decorate(self, value: Value, call: Call) -> Value:
        if self.name in _HARMLESS:
            return value
        value.escape()
        return call.run.called(self.name, call)
