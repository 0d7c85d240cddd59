"""OmegaConf: ``OmegaConf.from_cli()`` reads pairs, `key=value`, and rejects no word."""

from __future__ import annotations

from smspec.script.call import Call
from smspec.script.interpreter import Handler
from smspec.script.program import CommandLine
from smspec.script.values import Value, constant


def _from_cli(call: Call) -> Value:
    given = call.argument(0, "args_list")
    if call.is_whole and (given is None or constant(given) is None) and call.reads_arguments(""):
        line = CommandLine(library="OmegaConf", grammar="pairs", options=(), place=call.place, is_complete=False)
        call.run.command_lines.append(line)
    return call.unknown_result()


HANDLERS: dict[str, Handler] = {"omegaconf.OmegaConf.from_cli": _from_cli}
