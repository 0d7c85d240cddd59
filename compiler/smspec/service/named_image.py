"""The image that a short name in a spec stands for: that of the lockfile or, without one, that of the table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from smspec.service.image_names import HAS_A_PROCESSOR, Unavailable, expanded, parsed_name
from smspec.service.processors import Processor, processors
from smspec.source import Path
from smspec.source.frozen import dataclass

_WITHOUT_A_REGION = Unavailable(
    reason="`region` is not set, so the name has no registry", help="set `region`, or use the full URI"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedImage:
    """A short name at ``path`` of a spec, the name of its entry in a lock, and its URI, or why it has none."""

    path: Path
    key: str
    uri: str | Unavailable
    is_locked: bool


def named_image(
    path: Path, text: str, *, region: str | None, instance_types: Iterable[str], locked: Mapping[str, str]
) -> NamedImage | None:
    """Return the image that a string stands for; None if it is not a short name.

    ``locked``: the names of a lock. It is read first, so that a new table changes no job.
    """
    if "/" in text or "@" in text:
        return None
    known = None if locked else parsed_name(text)
    if known is None and not locked:
        return None
    hosts = processors(instance_types)
    key = _key(text, region or "", hosts)
    if key in locked:
        return NamedImage(path=path, key=key, uri=locked[key], is_locked=True)
    name = known or parsed_name(text)
    if name is None:
        return None
    uri = expanded(name, region, hosts) if region else _WITHOUT_A_REGION
    return NamedImage(path=path, key=key, uri=uri, is_locked=False)


def _key(text: str, region: str, hosts: frozenset[Processor]) -> str:
    """Return the name of an entry in a lock. It is independent of the table, which may have changed since."""
    is_complete = len(hosts) != 1 or re.search(HAS_A_PROCESSOR, text) is not None
    return f"{text} in {region}" if is_complete else f"{text} on {''.join(hosts)} in {region}"
