"""What the program wants and what the spec gives it: one file a rule, named after the bad thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.script import (
    argument_that_the_program_does_not_know,
    arguments_that_exclude_each_other,
    arguments_that_go_unread,
    channel_that_only_the_program_knows,
    false_that_becomes_true,
    handler_that_the_module_lacks,
    hyperparameter_that_only_the_program_knows,
    missing_argument,
    path_of_a_channel_that_is_not_there,
    value_for_a_flag,
    value_that_the_program_refuses,
)
from smspec.rules.script.meeting import Meeting
from smspec.script.grammars import faults_of
from smspec.script.program import Program
from smspec.script.surroundings import Surroundings

RULES: tuple[Callable[[Meeting], Iterator[Finding]], ...] = (
    argument_that_the_program_does_not_know.check,
    missing_argument.check,
    value_that_the_program_refuses.check,
    value_for_a_flag.check,
    false_that_becomes_true.check,
    channel_that_only_the_program_knows.check,
    path_of_a_channel_that_is_not_there.check,
    hyperparameter_that_only_the_program_knows.check,
    arguments_that_exclude_each_other.check,
    arguments_that_go_unread.check,
    handler_that_the_module_lacks.check,
)


def script_findings(program: Program, surroundings: Surroundings) -> list[Finding]:
    """Return what would go wrong between a program and its job."""
    meeting = Meeting(program=program, surroundings=surroundings, faults=tuple(faults_of(program, surroundings)))
    return [finding for rule in RULES for finding in rule(meeting)]
