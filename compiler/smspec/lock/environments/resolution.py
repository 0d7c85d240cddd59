"""What a resolver is asked, and what it answers: only files that the hashes in the author's requirements accept.

A tool such as `uv export` writes several lines for one package, each for the Pythons of its marker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from smspec.lock.environments.versions import fits, version
from smspec.service.bare_image import BareImage
from smspec.service.requirement_lines import Requirement, RequirementLines


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The requirements of an image: ``packages`` in its spec, and the author's file, ``content``.

    ``preferred``: versions to keep where they still fit. ``allow_builds``: packages without a wheel may run their code.
    ``installed``: name → version of the packages that the image has before, when a job starts; they are preferred to
    all others. ``is_at_start``: the file is the list of a source, and pip may build packages then.
    """

    image: BareImage
    packages: RequirementLines
    file: RequirementLines
    content: bytes | None
    preferred: Mapping[str, str]
    allow_builds: bool = False
    installed: Mapping[str, str] = field(default_factory=dict)
    is_at_start: bool = False

    @property
    def versions(self) -> dict[str, str]:
        """The versions to choose where they fit."""
        return {**self.preferred, **self.installed}

    @property
    def option_to_build(self) -> str:
        """The option of the file that demands to build packages, empty for none."""
        options = (option for option in self.file.options if option.startswith("--no-binary "))
        return next((option for option in options if not option.endswith(" :none:")), "")

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to resolve."""
        return not (self.packages.requirements or self.file.requirements)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFile:
    """The file that installs a package, as in ``https://…/numpy-2.1.0-cp311-….whl``, and its SHA-256.

    ``size`` 0: unknown. ``is_direct``: the requirement names the file, not a version.
    """

    name: str
    version: str
    url: str
    sha256: str
    size: int = 0
    is_direct: bool = False

    @property
    def is_wheel(self) -> bool:
        return self.url.partition("#")[0].partition("?")[0].endswith(".whl")

    @property
    def is_local(self) -> bool:
        """Whether only this machine has the file."""
        return not self.url.startswith(("http://", "https://"))


class Unresolvable(Exception):
    """There are no versions that fit: the text is the resolver's, without secrets."""


class UnacceptedFiles(Exception):
    """The author's hashes exclude the files in the indexes; ``lines``: the requirements with these hashes."""

    def __init__(self, lines: Sequence[Requirement]) -> None:
        super().__init__()
        self.lines = tuple(lines)


class ResolverFailed(Exception):
    """The resolver, or an index, does not work: a sentence."""


def accepts(question: Question, file: ResolvedFile) -> bool:
    """Return whether the author's lines for this version of a package accept a file; without hashes, any."""
    lines = list(_hashed_lines(question, file))
    return not lines or any(file.sha256 in each.hashes for each in lines)


def require_accepted(question: Question, files: Sequence[ResolvedFile]) -> None:
    """Raise `UnacceptedFiles` if the author's hashes exclude a file."""
    wrong = [next(_hashed_lines(question, file)) for file in files if not accepts(question, file)]
    if wrong:
        raise UnacceptedFiles(sorted(wrong, key=lambda line: line.place))


def _hashed_lines(question: Question, file: ResolvedFile) -> Iterator[Requirement]:
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
