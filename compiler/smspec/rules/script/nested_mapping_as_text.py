"""`args_style: toolkit` joins a mapping as `key=value` pairs, and a mapping or a list in it becomes Python's text."""

from __future__ import annotations

import json
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, option_word, read_at
from smspec.script.program import Option
from smspec.script.script_environment import Argument

RULE = Rule("SM533", "nested mapping as text", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a nested mapping whose structure the argument of the script does not preserve."""
    at_fault = [fault.argument for fault in both.faults]
    for argument in both.environment.arguments or ():
        option = _option(both, argument)
        if option is None or argument in at_fault or not _loses_structure(argument):
            continue
        yield RULE.at(
            argument.path,
            f"`{both.name}` gets `{option_word(argument)}` as text that is not JSON: it is a nested mapping",
            help="set `args_style: json` in `entry_point`, and parse the argument with `json.loads` in the script",
            on="key",
            notes=read_at(option.place),
        )


def _option(both: ScriptAndJob, argument: Argument) -> Option | None:
    """Return the option of the script that gets a mapping as a string."""
    if argument.hyperparameter is None or not isinstance(argument.value, dict):
        return None
    options = (option for line in both.program.command_lines for option in line.options)
    return next((one for one in options if option_word(argument) in one.names and one.kind == "text"), None)


def _loses_structure(argument: Argument) -> bool:
    assert isinstance(argument.value, dict)
    if not any(isinstance(inner, dict | list) for inner in argument.value.values()):
        return False
    try:
        json.loads(argument.words[-1])
    except ValueError:
        return True
    return False
