"""Rules about values that `args_style: flags` does not pass: the script keeps its default."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding
from smspec.rules.script.arguments import TYPE_BOOL_ARGUMENT
from smspec.rules.script.starts import ScriptAndJob, read_at


def omitted_false(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a false value for an option whose default is true.

    `args_style: flags` passes true as the flag, and nothing for false.
    """
    for argument in both.environment.omitted:
        word = f"--{argument.hyperparameter}"
        options = [option for line in both.program.command_lines for option in line.options if word in option.names]
        # A second parser may have another default, and the script may add one later.
        if len(options) != 1 or not isinstance(options[0].default, bool | int | float | str) or not options[0].default:
            continue
        if both.environment.arguments is None or any(f"--no-{word[2:]}" == each for each in both.environment.words):
            continue
        default = options[0].default
        yield TYPE_BOOL_ARGUMENT.at(
            argument.path,
            f"`{word}` of `{both.name}` stays `{default}`, its default: `args_style: flags` passes nothing for false",
            help=f"pass the opposite in `args`, as `--no-{word[2:]}` of `argparse.BooleanOptionalAction`, or change the"
            " default in the script",
            notes=read_at(options[0].place),
        )
