"""The names of files in a directory of imported jobs: one spec for each job, one directory for each source."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from smspec.importer.code import DEPENDENCIES, LocalCode
from smspec.importer.imported import Imported
from smspec.importer.marks import holds_mark
from smspec.importer.naming import slug
from smspec.source.frozen import dataclass, replace

SPEC = "job.yaml"
SOURCE = "src"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedJob:
    """A job whose keys name ``source``, a directory below that of the specs; None without code to copy."""

    file: str
    imported: Imported
    source: str | None


def placed(jobs: Sequence[Imported]) -> tuple[PlacedJob, ...]:
    """Return the jobs with distinct names of files, and the directories of their code, which equal code shares."""
    files: set[str] = set()
    sources: dict[tuple[str, ...], str] = {}
    found: list[PlacedJob] = []
    for job in jobs:
        stem = slug(job.stem or str(job.request.get("TrainingJobName") or ""))
        name = distinct(stem, files) if len(jobs) > 1 else stem
        files.add(name)
        source = _source(job.code, sources) if job.code is not None else None
        # What is listed for a printed spec, the directory has.
        lost = tuple(part for part in job.not_imported if source is None or part.path != DEPENDENCIES)
        imported = replace(job, keys=_with_source(job.keys, source), stem=name, not_imported=lost)
        found.append(PlacedJob(file=SPEC if len(jobs) == 1 else f"{name}.yaml", imported=imported, source=source))
    return tuple(found)


def _with_source(keys: dict[str, object], source: str | None) -> dict[str, object]:
    """Return keys of a job whose code is in ``source``, which has no other files."""
    written = keys.get("source")
    if source is None or not isinstance(written, dict):
        return keys
    return {
        **keys,
        "source": {name: source if name == "dir" else written[name] for name in written if name != "ignore"},
    }


def distinct(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, with a number if need be."""
    found, count = name, 1
    while found in taken:
        count += 1
        found = f"{name}-{count}"
    return found


def _source(code: LocalCode, known: dict[tuple[str, ...], str]) -> str:
    key = (code.directory, code.script if code.is_alone else "", *code.dependencies)
    if key not in known:
        last = posixpath.basename(code.directory)
        is_named = not code.is_alone and not holds_mark(code.directory) and _PLAIN.fullmatch(last)
        known[key] = distinct(last if is_named else SOURCE, set(known.values()))
    return known[key]
