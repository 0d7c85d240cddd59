"""Rules about false, where the script has true: it keeps its default, or gets a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding
from smspec.rules.script.arguments import TYPE_BOOL_ARGUMENT
from smspec.rules.script.starts import ScriptAndJob, read_at
from smspec.script.option_values import is_guarded, used_as
from smspec.script.program import DeclaredOption

_TEXTS = ("False", "false")
_TO_OMIT = "remove it, or declare a flag in the script, and set `args_style: flags`"
_TO_PASS = "compare the string in the script, or use `argparse.BooleanOptionalAction` with `args_style: flags`"
_COMPARED = re.compile(r"""(["'])(?:true|false)\1""", re.IGNORECASE)


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


def text_that_is_true(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about false for an option without a type: the script gets a text, which is true, and tests its truth.

    A script that compares a text with true or false, or gives it to code that may, is not reported.
    """
    if any(_COMPARED.search(text.text) for text in both.program.texts):
        return
    for argument in both.environment.arguments or ():
        if len(argument.words) != 2 or argument.words[1] not in _TEXTS:
            continue
        word = argument.words[0]
        options = [option for line in both.program.command_lines for option in line.options if word in option.names]
        texts = both.program.texts
        if len(options) == 1 and _is_plain(options[0]) and used_as(options[0], texts):
            if is_guarded(options[0], texts):
                continue
            yield TYPE_BOOL_ARGUMENT.at(
                argument.path,
                f"`{word} {argument.words[1]}` becomes true: `{both.name}` declares no type, and gets a text",
                help=_TO_PASS if options[0].default is True else _TO_OMIT,
                notes=read_at(options[0].place),
            )


def _is_plain(option: DeclaredOption) -> bool:
    """Return whether an option takes any text, and is nothing, or a truth, without one."""
    is_text = option.kind == "text" and option.function is None and option.choices is None
    return is_text and not option.is_required and option.default in (None, "", False, True)
