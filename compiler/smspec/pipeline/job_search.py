"""Which job specs a list of files and directories means."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Rejected
from smspec.pipeline.absence import is_directory, is_file
from smspec.pipeline.spec_files import read_spec_file
from smspec.pipeline.spec_marker import has_spec_key
from smspec.source import Document
from smspec.spec.layers.assembly import Misuse, extends_of, is_base, is_nameless_job
from smspec.spec.yaml.guard import MAX_BYTES

# Block style, at the start of a line: it is a spec even if it is broken further up.
_MARK = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?smspec["']?[ \t]*:""", re.MULTILINE)

_NEVER_SEARCHED = frozenset({"__pycache__", "node_modules"})


def find_job_specs(paths: Iterable[str], known: dict[str, Document]) -> tuple[str, ...]:
    """Return the job specs that ``paths`` mean: in their order, sorted below a directory, none twice.

    A directory means the YAML files below it that have a top-level ``smspec``; not those without ``name``, which are
    bases. So is a file that is named, unless only the name is missing. What another one extends is a
    base wherever it comes from, unless it extends that one too. What is read is added to ``known``, by real path.
    Raises `Misuse` for a path that does not exist and for directories without a job.
    """
    found: dict[str, str] = {}
    named: set[str] = set()
    for path in paths:
        if is_directory(path):
            for spec in _specs_below(path):
                found.setdefault(os.path.realpath(spec), spec)
        else:
            found.setdefault(os.path.realpath(path), path)
            named.add(os.path.realpath(path))

    bases = _bases(found, known)
    jobs = tuple(
        path
        for identity, path in found.items()
        # What could not be read is looked at again, so that its faults are told.
        if identity not in bases and (identity not in known or _is_job(known[identity], is_named=identity in named))
    )
    if not jobs and not named:
        raise Misuse(f"there is no job spec in {', '.join(f'`{path}`' for path in paths)}")
    return jobs


def _is_job(document: Document, *, is_named: bool) -> bool:
    return not is_base(document) or (is_named and is_nameless_job(document))


def _specs_below(directory: str) -> Iterator[str]:
    for parent, directories, files in os.walk(directory, onerror=_complain):
        directories[:] = sorted(d for d in directories if d not in _NEVER_SEARCHED and not d.startswith("."))
        for name in sorted(files):
            path = os.path.normpath(os.path.join(parent, name))
            if name.endswith((".yaml", ".yml")) and is_file(path) and _is_spec(path):
                yield path


def _complain(fault: OSError) -> None:
    raise fault


def _is_spec(path: str) -> bool:
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES)
    return _MARK.search(content) is not None or has_spec_key(content)


def _bases(found: dict[str, str], known: dict[str, Document]) -> set[str]:
    """Read every file and return, by real path, what they extend. What extends itself in the end is a fault to tell."""
    extended: dict[str, set[str]] = {}
    for identity, path in found.items():
        try:
            document = known[identity] if identity in known else read_spec_file(path)
            known[identity] = document
            bases = (os.path.join(os.path.dirname(path), written) for written, _ in extends_of(document))
            extended[identity] = {os.path.realpath(base) for base in bases if is_file(base)}
        except Rejected:
            continue
    bases_of_any = {base for bases in extended.values() for base in bases}
    return {base for base in bases_of_any if not _is_in_a_circle(base, extended)}


def _is_in_a_circle(identity: str, extended: dict[str, set[str]]) -> bool:
    """Return whether a file is reached from itself."""
    reached: set[str] = set()
    ahead = list(extended.get(identity, ()))
    while ahead:
        base = ahead.pop()
        if base == identity:
            return True
        if base not in reached:
            reached.add(base)
            ahead += extended.get(base, ())
    return False
