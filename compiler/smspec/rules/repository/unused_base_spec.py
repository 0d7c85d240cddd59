"""A base spec that no spec extends: it is never checked as part of a job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Rule
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.spec.repository_facts import Repository

RULE = Rule("SM708", "unused base spec", "warning")


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    for base in repository.unused_bases:
        finding = RULE.at(
            ("smspec",),
            "unused base spec: no spec extends it, and `name` is not set",
            help="add `name`: all other required keys are set"
            if base.lacks_only_a_name
            else "remove it, or check the directory of the spec that extends it too",
            on="key",
        )
        yield CrossSpecFinding(finding=finding, span=base.version, specs=(base,))
