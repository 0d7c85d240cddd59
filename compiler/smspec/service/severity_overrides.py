"""The severities that an organization sets for rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from smspec.diagnostics import Finding
from smspec.service.policy import Level
from smspec.source.frozen import replace


def at_level(findings: Iterable[Finding], levels: Mapping[str, Level]) -> Iterator[Finding]:
    """Yield findings with the severities in ``levels``; findings that are off are omitted."""
    for finding in findings:
        level = levels.get(finding.code, finding.severity)
        if level != "off":
            yield finding if level == finding.severity else replace(finding, severity=level)
