"""What a script reads from the job: ``smspec_runtime.job()``, or the job that a function is called with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.call import Call
from smspec.script.program import ChannelRead, HyperparameterRead
from smspec.script.values import UNKNOWN, Value, text

if TYPE_CHECKING:
    from smspec.script.interpreter import Interpreter
    from smspec.source import Span

WORD = "job"


class Job(Value):
    """The job of `smspec_runtime`."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run

    def attribute(self, name: str) -> Value:
        if name in ("hyperparameters", "channels"):
            return _Named(self._run, name)
        return UNKNOWN

    def method(self, name: str, call: Call) -> Value:
        if name == "channel":
            _Named(self._run, "channels").item(call.argument(0, "name") or UNKNOWN, call.place)
        return call.unknown_result()


class _Named(Value):
    """One of the two mappings of the job, by name."""

    def __init__(self, run: Interpreter, what: str) -> None:
        self._run = run
        self._what = what

    def set_item(self) -> None:
        self._run.changed_mappings.add(self._what)

    def item(self, key: Value, place: Span) -> Value:
        name = text(key)
        if self._what in self._run.changed_mappings:
            return UNKNOWN
        if name is None or not self._run.is_certain:
            return UNKNOWN
        if self._what == "channels":
            read = ChannelRead(name=name, by="job", written=name, fails=True, place=place)
            self._run.channels.append(read)
        else:
            self._run.hyperparameters.append(HyperparameterRead(name=name, by="job", written=name, place=place))
        return UNKNOWN


def _job(call: Call) -> Value:
    return Job(call.run)


HANDLERS = {"smspec_runtime.job": _job, "smspec_runtime.training_job.job": _job}
