"""Rules about a script that cannot start in its image: one file per rule, named after the problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.program import (
    broken_syntax,
    ignored_failure,
    missing_own_module,
    missing_package,
    missing_standard_module,
    newer_syntax,
    package_missing_from_aws_image,
    script_that_cannot_start,
    uncallable_handler,
)
from smspec.rules.program.program_and_image import ProgramAndImage
from smspec.rules.program.provided_modules import Provided, provided
from smspec.script.foreign_script import ForeignScript

RULES: tuple[Callable[[ProgramAndImage], Iterator[Finding]], ...] = (
    broken_syntax.check,
    newer_syntax.check,
    missing_own_module.check,
    uncallable_handler.check,
)

ABOUT_PACKAGES: tuple[Callable[[ProgramAndImage, Provided], Iterator[Finding]], ...] = (
    missing_standard_module.check,
    missing_package.check,
    package_missing_from_aws_image.check,
)


OF_OTHER_SCRIPTS: tuple[Callable[[ForeignScript], Iterator[Finding]], ...] = (
    script_that_cannot_start.check,
    ignored_failure.check,
)


def foreign_script_findings(script: ForeignScript) -> list[Finding]:
    """Return why a script that is not Python cannot start, or would hide a failure."""
    return [finding for rule in OF_OTHER_SCRIPTS for finding in rule(script)]


def program_findings(both: ProgramAndImage) -> list[Finding]:
    """Return why a script cannot start in the image of its job, or cannot import its modules."""
    findings = [finding for rule in RULES for finding in rule(both)]
    if both.reach.foreign:
        modules = provided(both)
        findings += [finding for rule in ABOUT_PACKAGES for finding in rule(both, modules)]
    return findings
