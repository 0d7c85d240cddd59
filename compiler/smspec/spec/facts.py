"""What one spec says that matters to the others: names, places in S3, and where each of them is written.

A job is compiled, gives its facts and is forgotten: thousands of jobs are compared without being kept whole.
"""

from __future__ import annotations

from smspec.source import Path, Span
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Stated:
    """A text that a spec says: under which path, and where it is written. That may be a base or an overlay."""

    text: str
    path: Path
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredFact:
    """An entry of `checks.ignore` about a rule that compares specs; ``index`` is its place in the list."""

    rule: str
    at: str
    index: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """One job: the spec in ``file``, as it is or under ``overlay``. What the request does not say is None.

    ``name`` is the spec's, ``job_name`` the request's; ``names_itself`` says that the author wrote the latter.
    ``channels`` are the names of channels and their data in S3. ``training`` is what makes the training that one and
    no other, as (key of the spec, digest); it is empty without checkpoints. ``unpinned`` is the base that the image is
    built from, where nothing says which one exactly.
    """

    file: str
    overlay: str | None
    name: Stated
    job_name: Stated
    names_itself: bool
    region: str | None
    account: str | None
    output: Stated | None
    checkpoints: Stated | None
    tensorboard: Stated | None
    channels: tuple[tuple[str, Stated], ...]
    training: tuple[tuple[str, str], ...]
    ignored: tuple[IgnoredFact, ...]
    unpinned: str | None = None

    @property
    def place(self) -> tuple[str | None, str | None]:
        """Where names are unique: an account and a region, None where they are not known."""
        return self.account, self.region


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFacts:
    """A file without ``name`` that no spec extends. ``lacks_only_a_name``: it says all else that a job needs."""

    file: str
    version: Span
    lacks_only_a_name: bool
    ignored: tuple[IgnoredFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """All jobs that are checked together, in the order of their files, and the bases that none of them needs."""

    jobs: tuple[JobFacts, ...]
    unused_bases: tuple[BaseFacts, ...] = ()
