"""Hydra: ``@hydra.main`` reads overrides, `key=value`, next to a few options of its own."""

from __future__ import annotations

from smspec.script.call import Call
from smspec.script.functions import Function
from smspec.script.interpreter import Handler
from smspec.script.program import CommandLine, Option
from smspec.script.values import UNKNOWN, Value

_FLAGS = (
    *(("--hydra-help",), ("--version",), ("--resolve",), ("--run", "-r"), ("--multirun", "-m")),
    ("--shell-completion", "-sc"),
)
_WITH_VALUES = (
    *(("--cfg", "-c"), ("--package", "-p"), ("--config-path", "-cp"), ("--config-name", "-cn")),
    *(("--config-dir", "-cd"), ("--experimental-rerun",), ("--info", "-i"), ("--help", "-h")),
)


class HydraDecorator(Value):
    """``@hydra.main(…)``."""

    def decorate(self, value: Value, call: Call) -> Value:
        return HydraTask() if isinstance(value, Function) else call.unknown_result()


class HydraTask(Value):
    """A decorated function: its call parses the command line."""

    def call(self, call: Call) -> Value:
        if call.arguments or call.keywords or not call.is_whole:
            return call.unknown_result()  # with a config, Hydra reads nothing
        if call.reads_arguments(""):
            options = [Option(names=names, label="help", place=call.place, words="unknown") for names in _FLAGS]
            options += [
                Option(names=names, label=names[0], place=call.place, words="unknown", kind="unknown")
                for names in _WITH_VALUES
            ]
            overrides = Option(names=(), label="overrides", place=call.place, words="*", kind="pair")
            call.run.command_lines.append(
                CommandLine(library="hydra", grammar="argparse", options=(*options, overrides), place=call.place)
            )
        call.run.ends()  # Hydra ends a run that prints its help, or its configuration
        return UNKNOWN


def _main(call: Call) -> Value:
    call.unknown_result()
    return HydraDecorator()


HANDLERS: dict[str, Handler] = {"hydra.main": _main}
