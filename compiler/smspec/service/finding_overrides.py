"""What an organization changes in findings: their severities, and what it knows better than the pinned tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from smspec.diagnostics import Finding
from smspec.service.image_reference import parsed_reference
from smspec.service.instance_types import SIZE_THAT_THE_FAMILY_LACKS, UNKNOWN_INSTANCE_TYPE
from smspec.service.policy import LEVELS, Level
from smspec.service.request import Request
from smspec.source import Path
from smspec.source.frozen import replace

_OF_THE_TABLES = frozenset({"SM384", "SM385", "SM488"})
"""The account has no such repository, the tag is not listed, the account has no images in the region."""

_OF_THE_MODEL = (UNKNOWN_INSTANCE_TYPE.code, SIZE_THAT_THE_FAMILY_LACKS.code)


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


def without_known_images(findings: Iterable[Finding], request: Request, known: tuple[str, ...]) -> list[Finding]:
    """Return findings without those that contradict ``known``: ``REPOSITORY:TAG``, with a registry or without one."""
    image = parsed_reference(request.tagged_image) or request.image
    names = (
        () if image is None else (f"{image.repository}:{image.tag}", f"{image.registry}/{image.repository}:{image.tag}")
    )
    is_known = any(name in known for name in names)
    return [finding for finding in findings if not (is_known and finding.code in _OF_THE_TABLES)]


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
