"""`name` and `job_name`: a stem for future jobs, and the exact name of this one."""

from __future__ import annotations

import re

from smspec.plan.naming import training_job_name

LONGEST = 48
UNNAMED = "imported"

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MOMENT = r"(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9](?:[-t]?[0-2][0-9]-?[0-5][0-9](?:-?[0-5][0-9](?:-?[0-9]{3})?)?)?"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# A date, seconds since 1970, or a digest: the part that makes the name of each job unique.
_ENDINGS = re.compile(rf"-?{_MOMENT}$|-{_UUID}$|-[0-9]{{9,13}}$|-(?=[a-f]*[0-9])[0-9a-f]{{7,40}}$")


def names(job_name: str | None, stem: str, request: dict[str, object]) -> dict[str, str]:
    """Return the keys that name a job; `job_name` only if its name differs from the one that the spec would give it."""
    if job_name is None:
        return {"name": slug(stem)}
    own = job_name[:-11]
    is_name = len(own) <= LONGEST and _NAME.fullmatch(own) is not None
    if is_name and training_job_name(own, request) == job_name:
        return {"name": own}
    return {"name": slug(job_name), "job_name": job_name}


def slug(text: str) -> str:
    """Return a name converted to the characters of a spec's name, without its unique suffix."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    while (ending := _ENDINGS.search(words)) and ending.start() > 0:
        words = words[: ending.start()].strip("-")
    return words[:LONGEST].strip("-") or UNNAMED
