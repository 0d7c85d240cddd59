"""LightningCLI: only whether its command is there; its options are those of models, data, and trainers."""

from __future__ import annotations

from smspec.script.call import Call
from smspec.script.program import Command, CommandLine, Option, Stop
from smspec.script.values import Value

_COMMANDS = ("fit", "validate", "test", "predict")
_CHANGING = frozenset({"args", "parser_class", "parser_kwargs", "run"})
"""Parameters that change which words are commands."""

_MOST_BY_POSITION = 3


def _cli(call: Call) -> Value:
    is_plain = call.is_whole and len(call.arguments) <= _MOST_BY_POSITION and not _CHANGING & call.keywords.keys()
    if call.reads_arguments("" if is_plain else "smspec does not know this use of `LightningCLI`"):
        call.run.command_lines.append(
            CommandLine(
                library="lightning",
                grammar="lightning",
                options=(Option(names=(), label=_COMMANDS[0], place=call.place, is_required=True),),
                place=call.place,
                is_complete=False,
                commands=tuple(Command(name=name, options=()) for name in _COMMANDS),
            )
        )
        reason = "smspec does not know how `LightningCLI` reads the options of its commands"
        call.run.stops.append(Stop(reason=reason, place=call.place))
    return call.unknown_result()


HANDLERS = dict.fromkeys(("lightning.pytorch.cli.LightningCLI", "pytorch_lightning.cli.LightningCLI"), _cli)
