"""The facts about one spec that matter to other specs: names, places in S3, and where each of them is written.

A job is compiled, reduced to its facts, and dropped, so thousands of jobs can be compared without keeping them in
memory.
"""

from __future__ import annotations

from smspec.source import Path, Span
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Stated:
    """A string in a spec: its path, and where it is written, which may be in a base spec or an overlay."""

    text: str
    path: Path
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredFact:
    """An entry of `checks.ignore` about a rule that compares specs; ``index`` is its position in the list."""

    rule: str
    at: str
    index: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """One job: the spec in ``file``, on its own or with ``overlay``. What the request does not contain is None.

    ``name`` is the spec's, ``job_name`` the request's; ``names_itself``: the author wrote the latter. ``alternatives``
    are the names of the other jobs of `hosts.any_of`, of which one takes its place. ``channels`` are
    the names of channels and their data in S3; those in ``manifests`` name one object. ``training`` identifies the
    training, as (key of the spec, digest); it is empty without checkpoints. ``instances`` are the types and their
    counts. ``unpinned`` is the base image of the image, where it is not pinned; ``loose`` are its packages
    without an exact version.
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
    manifests: frozenset[str]
    training: tuple[tuple[str, str], ...]
    ignored: tuple[IgnoredFact, ...]
    unpinned: str | None = None
    loose: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    instances: tuple[tuple[str, int], ...] = ()
    description: str = ""

    @property
    def place(self) -> tuple[str | None, str | None]:
        """The scope in which names are unique: an account and a region, None where unknown."""
        return self.account, self.region


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFacts:
    """A file without ``name`` that no spec extends. ``lacks_only_a_name``: it has everything else that a job needs."""

    file: str
    version: Span
    lacks_only_a_name: bool
    ignored: tuple[IgnoredFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFacts:
    """All jobs that are checked together, in the order of their files, and the unused base specs."""

    jobs: tuple[JobFacts, ...]
    unused_bases: tuple[BaseFacts, ...] = ()
