"""The messages for authors: findings, their positions, and their output formats.

A check returns `Finding`s: a `Rule` with its public code, a path such as ``channels.train.input_mode``, and words. It
knows no lines. `placed` converts findings to `Diagnostic`s at lines of a text, and a format prints these as text, JSON,
SARIF, JUnit, or annotations of GitHub. An input that cannot be read at all raises `InvalidInput`, with diagnostics.

Two duties of all output are here, too: secrets in quoted text are masked, and characters that a terminal would
interpret are made visible. The pages of the codes are next to the rules, and `explanation` returns them.

The package must not know specs, requests, or rules: it imports `smspec.source` only, and a rule is a value to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar, get_args

from smspec.diagnostics.quoting import masked, path_name, secrets_at, without_quoted, without_tokens
from smspec.diagnostics.suggestions import Fix
from smspec.source import Document, Path, Places, SourceText, Span
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


# No author fixes more in one run, and a hostile text could contain tens of thousands.
MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A message for the author. ``path`` is empty if the text could not be parsed to a tree.

    ``fix``: what certainly belongs in place of the text at ``span``; None if that is not certain. ``page`` explains
    a rule of an organization; those of smspec have files.
    """

    code: str
    severity: Severity
    message: str
    span: Span
    path: Path = ()
    help: str = ""
    label: str = ""
    notes: tuple[Note, ...] = ()
    fix: Fix | None = None
    page: str = ""


class InvalidInput(Exception):
    """The spec has errors. ``texts`` are those that the diagnostics refer to."""

    def __init__(self, diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.texts = tuple(texts)
        super().__init__(f"{len(self.diagnostics)} diagnostics")


def placed(findings: Iterable[Finding], document: Document) -> tuple[Diagnostic, ...]:
    """Return findings with their positions in the texts of ``document``, in the order of files and lines, once each."""
    diagnostics = dict.fromkeys(_place(finding, document) for finding in findings)
    return in_order(diagnostics, document.texts)


def in_order(diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> tuple[Diagnostic, ...]:
    """Return diagnostics in the order of the files, then of their lines."""
    order = {text.name: position for position, text in enumerate(texts)}
    return tuple(
        sorted(diagnostics, key=lambda d: (order.get(d.span.file, len(order)), d.span.line, d.span.column, d.code))
    )


def _place(finding: Finding, document: Document) -> Diagnostic:
    secrets = secrets_at(document, finding.path)
    if secrets:
        finding = replace(
            finding,
            message=without_quoted(finding.message, secrets),
            help=without_quoted(finding.help, secrets),
            label=without_quoted(finding.label, secrets),
            fix=None,
            notes=tuple(Note(without_quoted(note.message, secrets), note.span) for note in finding.notes),
        )
    if finding.place is not None:
        return placed_at(finding.place, finding)
    # A missing value has no position; what requires it has one, often far from where the missing one would be.
    here = finding.cause if finding.cause and document.node(finding.path) is None else finding.path
    span = document.span_of_key(here) if finding.on == "key" else document.span_of_value(here)
    return placed_at(span, finding, used_at=document.used_at(finding.path))


def file_at_fault(path: str, finding: Finding) -> InvalidInput:
    """Return the error for a file as a whole, whose text is not shown."""
    return InvalidInput([placed_at(Span(path, 1, 1, 1, 1), finding)], ())


def placed_at(span: Span, finding: Finding, *, used_at: Span | None = None) -> Diagnostic:
    """Return one finding at the position ``span``, with its secrets masked; ``used_at`` is an alias of it."""
    return Diagnostic(
        code=finding.code,
        severity=finding.severity,
        message=masked(finding.message),
        span=span,
        path=tuple(without_tokens(step) if isinstance(step, str) else step for step in finding.path),
        help=masked(finding.help),
        label=masked(finding.label),
        fix=finding.fix if finding.fix and masked(finding.fix.written) == finding.fix.written else None,
        page=finding.page,
        notes=(
            *([Note("used through an alias here", used_at)] if used_at else []),
            *(Note(masked(note.message), note.span) for note in finding.notes),
        ),
    )


class ParseErrors:
    """The errors in one text, in the order in which they were found."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self._found: list[Diagnostic] = []
        self._places: Places | None = None

    def __bool__(self) -> bool:
        return bool(self._found)

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets of the text; offsets past its end are its end."""
        if self._places is None:
            self._places = Places(self.text)
        return self._places.span(start, end)

    def add(
        self,
        rule: Rule,
        span: Span,
        message: str,
        *,
        path: Path = (),
        help: str = "",
        label: str = "",
        notes: tuple[Note, ...] = (),
    ) -> None:
        """Add one error; give up on the text when there are too many."""
        self._found.append(placed_at(span, rule.at(path, message, help=help, label=label, notes=notes)))
        if len(self._found) >= MOST:
            raise self.rejected()

    def rejected(self) -> InvalidInput:
        """Return the exception with all errors, in the order of the text."""
        found = sorted(dict.fromkeys(self._found), key=lambda fault: (fault.span.line, fault.span.column, fault.code))
        return InvalidInput(found, (self.text,))
