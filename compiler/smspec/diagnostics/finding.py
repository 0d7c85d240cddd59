"""The result of a check, at a path. A finding has no line numbers and prints nothing."""

from __future__ import annotations

from typing import Literal

from smspec.diagnostics.fix import Fix
from smspec.diagnostics.note import Note
from smspec.diagnostics.quoting import path_name
from smspec.diagnostics.severity import Severity
from smspec.source import Path, Span
from smspec.source.frozen import dataclass, replace

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
