"""The severities that an organization sets for rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from smspec.diagnostics import Finding
from smspec.service.policy import LEVELS, Level
from smspec.source.frozen import replace


def at_level(
    findings: Iterable[Finding], levels: Mapping[str, Level], floors: Mapping[str, Level]
) -> Iterator[Finding]:
    """Yield findings with the severities in ``levels``, raised to those in ``floors``; what is off is omitted."""
    for finding in findings:
        level: Level = levels.get(finding.code, finding.severity)
        floor = floors.get(finding.code)
        if floor is not None:
            level = min(level, floor, key=LEVELS.index)
        if level != "off":
            yield finding if level == finding.severity else replace(finding, severity=level)
