"""Rules about a script that does not match its job: one file per rule, named after the problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.script import (
    arguments_before_a_config_file,
    aws_call_in_isolation,
    fifo_opened_twice,
    handler_missing_from_its_module,
    ignored_argument,
    installation_without_a_network,
    missing_argument,
    missing_channel,
    missing_hyperparameter,
    misspelled_optional_variable,
    misspelled_variable,
    mutually_exclusive_arguments,
    nested_mapping_as_text,
    option_for_pairs,
    path_of_a_missing_channel,
    pipe_channel_used_as_a_file,
    process_group_without_a_launcher,
    rejected_value,
    search_of_a_pipe_channel,
    type_bool_argument,
    unchecked_arguments,
    undeclared_argument,
    unread_arguments,
    unread_script,
    unset_environment_variable,
    unset_variable,
    used_channel_that_is_missing,
    value_for_a_flag,
)
from smspec.rules.script.script_and_job import ScriptAndJob
from smspec.script.grammars import faults_of
from smspec.script.program import Program
from smspec.script.script_environment import ScriptEnvironment
from smspec.script.unread_script import UnreadScript

RULES: tuple[Callable[[ScriptAndJob], Iterator[Finding]], ...] = (
    undeclared_argument.check,
    missing_argument.check,
    rejected_value.check,
    value_for_a_flag.check,
    type_bool_argument.check,
    missing_channel.check,
    path_of_a_missing_channel.check,
    missing_hyperparameter.check,
    mutually_exclusive_arguments.check,
    unread_arguments.check,
    option_for_pairs.check,
    nested_mapping_as_text.check,
    arguments_before_a_config_file.check,
    unchecked_arguments.check,
    handler_missing_from_its_module.check,
    process_group_without_a_launcher.check,
    misspelled_variable.check,
    unset_variable.check,
    misspelled_optional_variable.check,
    unset_environment_variable.check,
    used_channel_that_is_missing.check,
    pipe_channel_used_as_a_file.check,
    search_of_a_pipe_channel.check,
    fifo_opened_twice.check,
    ignored_argument.check,
    aws_call_in_isolation.check,
    installation_without_a_network.check,
)


def script_findings(
    program: Program | UnreadScript, environment: ScriptEnvironment | UnreadScript | None
) -> list[Finding]:
    """Return the mismatches between a script and its job, or a note where one of the two is unknown."""
    if isinstance(program, UnreadScript):
        return [unread_script.finding_for(program)]
    if isinstance(environment, UnreadScript):
        return [unread_script.finding_for(environment)]
    if environment is None:
        return []
    both = ScriptAndJob(program=program, environment=environment, faults=tuple(faults_of(program, environment)))
    return [finding for rule in RULES for finding in rule(both)]
