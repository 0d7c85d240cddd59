"""A base that no spec needs: it is checked with nobody's job, and grows old unseen."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Rule
from smspec.rules.repository.crossing import Crossing
from smspec.spec.facts import Repository

RULE = Rule("SM708", "unused base spec", "warning")


def check(repository: Repository) -> Iterator[Crossing]:
    for base in repository.unused_bases:
        finding = RULE.at(
            ("smspec",),
            "no spec extends this base, and without `name` it is no job",
            help="give it a `name`: it has all else that a job needs"
            if base.lacks_only_a_name
            else "extend it or take it away; a spec in another directory counts only when that is checked too",
            on="key",
        )
        yield Crossing(finding=finding, span=base.version, specs=(base,))
