"""The findings about a source directory, at the line that names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.source.listing import ListedFile, Listing
from smspec.workspace.ignore_rules import WORTH_NAMING
from smspec.workspace.source_listing import ScannedSource, SourceSecret
from smspec.workspace.source_walk import FaultKind, SourceFault

SOURCE = ("source", "dir")

OUTSIDE = Rule("SM259", "symbolic link that leaves the source")
NOWHERE = Rule("SM260", "dangling link in the source")
AROUND = Rule("SM261", "link to a parent directory")
IGNORED = Rule("SM262", "link to an ignored file")
NOT_UTF_8 = Rule("SM263", "file name that is not UTF-8")
UNREADABLE = Rule("SM264", "unreadable file in the source")
UNBOUNDED = Rule("SM265", "oversized source")
SPECIAL = Rule("SM266", "special file in the source", "warning")
LARGE = Rule("SM267", "large source", "warning")
LEFT_OUT = Rule("SM268", "files excluded by default", "note")
SECRET = Rule("SM604", "secret in the source")
LIKELY_SECRET = Rule("SM605", "likely secret in the source", "warning")
UNSEARCHED = Rule("SM606", "file not searched for secrets", "note")

HIDES_FILES = frozenset(rule.code for rule in (OUTSIDE, NOWHERE, AROUND, IGNORED, NOT_UTF_8, UNREADABLE, UNBOUNDED))
"""Codes of findings about files that cannot be listed: that they are missing there is not reported again."""

_LARGE_BYTES = 50_000_000
_LARGE_FILES = 2_000
_MOST_NAMED = 5

_MOVE = "move the target into the source, or add the link to `source.ignore`"
# Kind → rule, the error in `{path}`, and what to do.
_FAULTS: dict[FaultKind, tuple[Rule, str, str]] = {
    "outside": (OUTSIDE, "{path} links to {detail}, outside of the source", _MOVE),
    "nowhere": (
        NOWHERE,
        "{path} links to {detail}, which does not exist",
        "fix the link, or add it to `source.ignore`",
    ),
    "around": (
        AROUND,
        "{path} links to {detail}, a directory that contains the link",
        "remove the link, or add it to `source.ignore`",
    ),
    "ignored": (
        IGNORED,
        "{path} links to {detail}, which is ignored",
        "add the link to `source.ignore`, or include its target: `!NAME` takes back a default",
    ),
    "name": (
        NOT_UTF_8,
        "the file name {path} is not UTF-8",
        "rename the file, or add a pattern for it to `source.ignore`",
    ),
    "unreadable": (
        UNREADABLE,
        "{path} cannot be read: {detail}",
        "make it readable, or add it to `source.ignore`",
    ),
    "special": (SPECIAL, "{path} is {detail}, which `source` excludes", "add it to `source.ignore`"),
}


def source_findings(scanned: ScannedSource, written: str) -> Iterator[Finding]:
    """Yield every error and note about a source; ``written``: its directory, as in the spec."""
    for fault in scanned.faults:
        if fault.kind == "unbounded":
            yield UNBOUNDED.at(
                SOURCE,
                f"`source` cannot be {quoted(written)}: {fault.detail}",
                help="use a directory that contains only the code of the job",
            )
    for kind, (rule, title, help) in _FAULTS.items():
        faults = [title.format(path=_name(f.path), detail=_detail(f)) for f in scanned.faults if f.kind == kind]
        if faults:
            yield _listed(rule, faults, help)
    yield from _secrets(scanned.secrets)
    yield from _size(scanned.listing)
    named = [path for group, path in scanned.left_out if group in WORTH_NAMING]
    if named:
        yield LEFT_OUT.at(
            SOURCE,
            f"`source` excludes {_names(named)}",
            help=f"add `!{_pattern(named[0])}` to `source.ignore` to include it",
        )
    if scanned.unsearched:
        yield UNSEARCHED.at(
            SOURCE,
            f"`source` contains files that are not searched for secrets: {_names(scanned.unsearched)}",
            help="move data to a channel: text above 5 MB a file, 10 MB in all, or full of token prefixes is skipped",
        )


def _secrets(secrets: Sequence[SourceSecret]) -> Iterator[Finding]:
    for rule, verb, is_certain in ((SECRET, "contains", True), (LIKELY_SECRET, "might contain", False)):
        found = [f"{_name(s.path)} line {s.line} {verb} {s.what}" for s in secrets if s.is_certain is is_certain]
        if found:
            help = "remove it and revoke it, or add the file to `source.ignore`; fetch secrets at run time"
            effect = "exposes the value to everyone who can pull the image or read the source in S3"
            yield _listed(rule, found, help, effect)


def _size(listing: Listing) -> Iterator[Finding]:
    size = sum(file.size for file in listing.files)
    if size <= _LARGE_BYTES and len(listing.files) <= _LARGE_FILES:
        return
    largest = sorted(listing.files, key=lambda file: -file.size)[:3]
    yield LARGE.at(
        SOURCE,
        f"`source` contains {_count(len(listing.files))} with {size / 1e6:,.1f} MB",
        help="add what training does not need to `source.ignore`, or move data to a channel",
        notes=(Note(f"the largest: {', '.join(map(_with_size, largest))}"),),
    )


def _listed(rule: Rule, faults: Sequence[str], help: str, effect: str = "") -> Finding:
    """Return one finding for all paths of a kind: they have the same position and help."""
    more = len(faults) - 1
    others = [Note(fault) for fault in faults[1:_MOST_NAMED]]
    if more >= _MOST_NAMED:
        others.append(Note(f"{_count(more - len(others), 'more')}"))
    title = faults[0] + (f" (and {more} more)" if more else "")
    return rule.at(SOURCE, title, help=help, notes=(*([Note(effect)] if effect else []), *others))


def _names(paths: Sequence[str]) -> str:
    shown = ", ".join(map(_name, paths[:3]))
    return f"{shown} and {len(paths) - 3:,} more" if len(paths) > 3 else shown


def _name(path: str) -> str:
    """Return a path in printable form, whatever its bytes are."""
    return quoted(path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def _detail(fault: SourceFault) -> str:
    return _name(fault.detail) if fault.kind in ("outside", "nowhere", "around", "ignored") else fault.detail


def _pattern(path: str) -> str:
    """Return the name of a file or directory as a pattern."""
    name = path.rstrip("/").rpartition("/")[2]
    return f"{name}/" if path.endswith("/") else name


def _count(number: int, what: str = "files") -> str:
    return f"{number:,} {what}" if number != 1 else f"1 {what.removesuffix('s')}"


def _with_size(file: ListedFile) -> str:
    return f"{_name(file.path)} ({file.size / 1e6:,.1f} MB)"
