"""The hashes in the author's requirements: the only files that may be locked.

A tool such as `uv export` writes several lines for one package, each for the Pythons of its marker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.lock.environments.resolution import Question, ResolvedFile, UnacceptedFiles
from smspec.lock.environments.versions import fits, version
from smspec.service.requirement_lines import Requirement


def accepts(question: Question, file: ResolvedFile) -> bool:
    """Return whether the author's lines for this version of a package accept a file; without hashes, any."""
    lines = list(_lines(question, file))
    return not lines or any(file.sha256 in each.hashes for each in lines)


def require_accepted(question: Question, files: Sequence[ResolvedFile]) -> None:
    """Raise `UnacceptedFiles` if the author's hashes exclude a file."""
    wrong = [next(_lines(question, file)) for file in files if not accepts(question, file)]
    if wrong:
        raise UnacceptedFiles(sorted(wrong, key=lambda line: line.place))


def _lines(question: Question, file: ResolvedFile) -> Iterator[Requirement]:
    known = version(file.version)
    for line in question.file.requirements:
        if not line.hashes:
            continue
        if line.url:
            is_its = line.url.partition("#")[0] == file.url.partition("#")[0]
        else:
            is_its = line.name == file.name and (known is None or fits(known, line.specifier))
        if is_its:
            yield line
