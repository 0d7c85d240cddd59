"""Rules about a script that cannot start in its image."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.rules.program import modules, starts
from smspec.rules.program.program_and_image import ProgramAndImage
from smspec.rules.program.provided_modules import provided
from smspec.script.program import ForeignScript
from smspec.spec.model import JobSpec


def foreign_script_findings(script: ForeignScript, job: JobSpec) -> list[Finding]:
    """Return why a script that is not Python cannot start, or would hide a failure."""
    return [finding for rule in starts.OF_OTHER_SCRIPTS for finding in rule(script, job)]


def program_findings(both: ProgramAndImage) -> list[Finding]:
    """Return why a script cannot start in the image of its job, or cannot import its modules."""
    findings = [finding for rule in (*starts.RULES, *modules.RULES) for finding in rule(both)]
    if both.reach.foreign or both.launches:
        found = provided(both)
        findings += [finding for rule in modules.ABOUT_PACKAGES for finding in rule(both, found)]
    return findings
