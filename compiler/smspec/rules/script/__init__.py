"""What the program wants and what the spec gives it: one file a rule, named after the bad thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.script import (
    argument_that_is_dropped,
    argument_that_the_program_does_not_know,
    arguments_that_exclude_each_other,
    arguments_that_go_unread,
    arguments_that_were_not_checked,
    channel_that_only_the_program_knows,
    handler_that_the_module_lacks,
    hyperparameter_that_only_the_program_knows,
    missing_argument,
    misspelled_variable_of_sagemaker,
    path_of_a_channel_that_is_not_there,
    process_group_that_nothing_forms,
    script_that_was_not_read,
    type_bool_argument,
    value_for_a_flag,
    value_that_the_program_refuses,
    variable_that_nothing_sets,
)
from smspec.rules.script.meeting import Meeting
from smspec.script.grammars import faults_of
from smspec.script.program import Program
from smspec.script.surroundings import Surroundings
from smspec.script.unread import Unread

RULES: tuple[Callable[[Meeting], Iterator[Finding]], ...] = (
    argument_that_the_program_does_not_know.check,
    missing_argument.check,
    value_that_the_program_refuses.check,
    value_for_a_flag.check,
    type_bool_argument.check,
    channel_that_only_the_program_knows.check,
    path_of_a_channel_that_is_not_there.check,
    hyperparameter_that_only_the_program_knows.check,
    arguments_that_exclude_each_other.check,
    arguments_that_go_unread.check,
    arguments_that_were_not_checked.check,
    handler_that_the_module_lacks.check,
    process_group_that_nothing_forms.check,
    misspelled_variable_of_sagemaker.check,
    variable_that_nothing_sets.check,
    argument_that_is_dropped.check,
)


def script_findings(program: Program | Unread, surroundings: Surroundings | Unread | None) -> list[Finding]:
    """Return what would go wrong between a program and its job; a note, where one of the two is not known."""
    if isinstance(program, Unread):
        return [script_that_was_not_read.told(program)]
    if isinstance(surroundings, Unread):
        return [script_that_was_not_read.told(surroundings)]
    if surroundings is None:
        return []
    meeting = Meeting(program=program, surroundings=surroundings, faults=tuple(faults_of(program, surroundings)))
    return [finding for rule in RULES for finding in rule(meeting)]
