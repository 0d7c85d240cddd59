"""A parser that loads a config file reads arguments in order: its values replace those of earlier arguments."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.script.script_and_job import ScriptAndJob, option_word, read_at
from smspec.script.program import CommandLine

RULE = Rule("SM538", "arguments before a config file", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about hyperparameters that the script reads before its config file, which may replace their values."""
    if both.faults:
        return
    arguments = [one for one in both.environment.arguments or () if one.hyperparameter is not None]
    for line in both.program.command_lines:
        names = _config_options(line)
        config = next((one for one in arguments if option_word(one) in names), None)
        before = [] if config is None else [option_word(one) for one in arguments[: arguments.index(config)]]
        if config is None or not before:
            continue
        option = option_word(config)
        yield RULE.at(
            config.path,
            f"`{both.name}` reads {quoted(before[0])} before `{option}`, whose values might replace it",
            help=f"set `args_style: json` in `entry_point`, and write `{config.hyperparameter}` before the other "
            "hyperparameters",
            on="key",
            notes=read_at(line.place),
        )
        return


def _config_options(line: CommandLine) -> set[str]:
    """Return the options that load a config file."""
    if line.library == "lightning":
        return {"--config", "-c"}
    return {name for option in line.options if option.loads_config for name in option.names}
