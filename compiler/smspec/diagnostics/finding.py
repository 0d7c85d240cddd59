"""The result of a check, at a path, with its severity and notes. A finding has no line numbers and prints nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar, get_args

from smspec.diagnostics.quoting import path_name
from smspec.diagnostics.suggestions import Fix
from smspec.source import Path, Span
from smspec.source.frozen import dataclass, replace

Severity = Literal["error", "warning", "note"]
"""Most severe first. A note reports what was not checked: it never fails a command, even with ``--strict``."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)

HERE = "{here}"
"""In a message: the path of the finding, in backticks."""

# How a rule about the request is known, strongest first. Only the classes up to "third-party" justify an error that
# cannot be ignored: an inferred rule may be wrong for a job that the service accepts.
Evidence = Literal[
    "service-message",
    "model",
    "api-doc",
    "devguide",
    "third-party-schema",
    "third-party",
    "conflict",
    "policy",
    "inferred",
    "unverified",
]


class Graded(Protocol):
    """A finding or a diagnostic."""

    @property
    def severity(self) -> Severity: ...


OneGraded = TypeVar("OneGraded", bound=Graded)


def gravest_first(graded: Iterable[OneGraded]) -> list[OneGraded]:
    """Return findings sorted by severity; the order of equal ones is kept."""
    return sorted(graded, key=lambda one: SEVERITIES.index(one.severity))


def counted(graded: Iterable[Graded]) -> str:
    """Return the number of each severity, such as ``1 error, 2 notes``; empty for none."""
    found = [one.severity for one in graded]
    return ", ".join(count(found.count(severity), severity) for severity in SEVERITIES if severity in found)


def fails(graded: Iterable[Graded], *, is_strict: bool) -> bool:
    """Return whether a command must fail: for an error, and with ``is_strict`` for a warning."""
    failing = ("error", "warning") if is_strict else ("error",)
    return any(one.severity in failing for one in graded)


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass(frozen=True, slots=True)
class Note:
    """An effect of the error, or a second position, in the same text or in a different one."""

    message: str
    span: Span | None = None

    def __str__(self) -> str:
        if self.span is None:
            return self.message
        return f"{self.message} ({self.span.file}:{self.span.line}:{self.span.column})"


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of error or risk. Its page is in the Markdown file next to its module (`explanation`).

    ``code`` is public API: never reused, never renumbered. ``name`` reads well after "allow". ``evidence``: how a rule
    about the request is known; other rules are smspec's own and have none. ``instead_of``: the code of a rule about the
    request that would report the same error with less information about the spec. ``needs_every_layer``: it reports
    something missing, or names that other keys declare, and a base spec that cannot be read may contain them.
    """

    code: str
    name: str
    severity: Severity = "error"
    evidence: Evidence | None = None
    instead_of: str = ""
    needs_every_layer: bool = False

    def at(
        self,
        path: Path,
        message: str,
        *,
        help: str = "",
        label: str = "",
        on: Literal["key", "value"] = "value",
        notes: tuple[Note, ...] = (),
        cause: Path = (),
        fix: Fix | None = None,
    ) -> Finding:
        """Return the finding that this rule is broken at ``path``.

        ``help`` is the remedy; ``label`` is shown under the source line; ``on`` picks what is underlined;
        ``notes`` are positions in other texts; ``cause`` is the path that requires a missing ``path``;
        ``fix`` replaces what is underlined, if it is certain.
        """
        return Finding(
            code=self.code,
            severity=self.severity,
            path=path,
            message=message.replace(HERE, path_name(path)),
            help=help,
            label=label,
            on=on,
            notes=notes,
            cause=cause,
            instead_of=self.instead_of,
            needs_every_layer=self.needs_every_layer,
            fix=fix,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One error or risk. ``message`` starts in lower case, has no full stop, and quotes the author in backticks.

    ``place`` is the position of something that the document no longer contains at ``path``. ``page`` explains a rule of
    an organization; those of smspec have files. ``is_ignorable`` False: such a rule does not let specs ignore it.
    """

    code: str
    severity: Severity
    path: Path
    message: str
    help: str = ""
    label: str = ""
    on: Literal["key", "value"] = "value"
    notes: tuple[Note, ...] = ()
    cause: Path = ()
    instead_of: str = ""
    needs_every_layer: bool = False
    place: Span | None = None
    fix: Fix | None = None
    page: str = ""
    is_ignorable: bool = True

    def moved(self, path: Path) -> Finding:
        """Return the same finding at a different path; its cause was a path of the same document."""
        return replace(self, path=path, cause=())

    def renamed(self, path: Path) -> Finding:
        """Return the same finding with its path in a different document, which is then in its message."""
        message = self.message.replace(path_name(self.path), path_name(path)) if self.path else self.message
        return replace(self.moved(path), message=message)
