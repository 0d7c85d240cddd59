"""jsonargparse reads arguments in order, and `args_style: toolkit` sorts them: a config file replaces earlier ones."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.script.script_and_job import ScriptAndJob, option_word, read_at

RULE = Rule("SM538", "arguments before a config file", "warning")

_CONFIG = "--config"


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about hyperparameters that the script reads before its config file, which may replace their values."""
    line = next((one for one in both.program.command_lines if one.library == "jsonargparse"), None)
    arguments = [one for one in both.environment.arguments or () if one.hyperparameter is not None]
    config = next((one for one in arguments if option_word(one) == _CONFIG), None)
    if line is None or config is None or both.faults:
        return
    option = next((one for one in line.options if _CONFIG in one.names and one.words == "unknown"), None)
    before = [option_word(one) for one in arguments[: arguments.index(config)]]
    if option is None or not before:
        return
    yield RULE.at(
        config.path,
        f"`{both.name}` reads {quoted(before[0])} before `--config`, whose values might replace it",
        help="set `args_style: json` in `entry_point`, and write `config` before the other hyperparameters",
        on="key",
        notes=read_at(line.place),
    )
