"""What only has a name here: something of another module, or of Python itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from smspec.script.values import Value

if TYPE_CHECKING:
    import ast

    from smspec.script.call import Call
    from smspec.script.interpreter import Interpreter

_HARMLESS = ("torch.distributed.elastic.multiprocessing.errors.record", "click.pass_context")
"""Decorators under which a function still runs as it is written."""


class Named(Value):
    """Something of another module, or of Python itself, by its full name: ``os.environ``."""

    def __init__(self, name: str, run: Interpreter | None = None) -> None:
        self.name = name
        self._run = run

    def escape(self) -> None:
        if self._run is not None:
            self._run.handed_on(self.name)

    def escape_by(self, _: Iterable[str]) -> None:
        """Nothing of another module is in danger where it is written with its attributes; `leak` looks at those."""

    def is_failure(self, _: Callable[[ast.expr], bool]) -> bool:
        return self.name not in ("SystemExit", "BaseException")

    def look_through(self) -> None:
        """Let others have the texts that are in it; they change nothing."""

    def attribute(self, name: str) -> Value:
        return Named(f"{self.name}.{name}", self._run)

    def call(self, call: Call) -> Value:
        return call.run.called(self.name, call)

    def decorate(self, value: Value, call: Call) -> Value:
        if self.name in _HARMLESS:
            return value
        value.escape()
        return call.run.called(self.name, call)
