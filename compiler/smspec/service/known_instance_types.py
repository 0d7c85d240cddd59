"""Instance types that an organization knows better than the pinned API model: those that are newer."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics import Finding
from smspec.service.unknown_instance_type import SIZE_THAT_THE_FAMILY_LACKS, UNKNOWN_INSTANCE_TYPE
from smspec.source import Path

_OF_THE_MODEL = (UNKNOWN_INSTANCE_TYPE.code, SIZE_THAT_THE_FAMILY_LACKS.code)


def without_known_types(findings: Iterable[Finding], payload: object, known: tuple[str, ...]) -> list[Finding]:
    """Return findings about a request without those about a type in ``known``, such as ``ml.p7.48xlarge``."""
    return [
        finding
        for finding in findings
        if finding.code not in _OF_THE_MODEL or _value_at(payload, finding.path) not in known
    ]


def _value_at(value: object, path: Path) -> object:
    """Return the value at a path; None if there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
