"""Diagnostics as SARIF 2.1.0, for code scanning on GitHub and other services."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Union
from urllib.parse import quote

from smspec import __version__
from smspec.diagnostics import SEVERITIES, Diagnostic
from smspec.diagnostics.explanation import explanation, reference
from smspec.diagnostics.quoting import visible
from smspec.source import SourceText, Span, dotted

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 25_000
"""GitHub rejects a run with more."""

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_.-]*")
"""A name that means the same in quotes."""

Json = Union[str, int, list["Json"], dict[str, "Json"]]


def sarif(diagnostics: Sequence[Diagnostic], texts: Sequence[SourceText]) -> str:
    """Return one run as a log file in ASCII, with a final newline; no diagnostics make an empty list of results."""
    kept = _kept(diagnostics)
    severities = {diagnostic.code: diagnostic.severity for diagnostic in reversed(kept)}
    codes = sorted(severities)
    fingerprints = _fingerprints(kept, texts)
    lines = {text.name: text.text.removeprefix("\ufeff").split("\n") for text in texts}
    results: list[Json] = [
        {**_result(diagnostic, codes.index(diagnostic.code), fingerprint), **_fixes(diagnostic, lines)}
        for diagnostic, fingerprint in zip(kept, fingerprints, strict=True)
    ]
    pages = {diagnostic.code: diagnostic.page for diagnostic in kept if diagnostic.page}
    rules: list[Json] = [_rule(code, severities[code], pages.get(code)) for code in codes]
    driver: dict[str, Json] = {"name": "smspec", "version": __version__, "rules": rules}
    run: dict[str, Json] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if len(kept) < len(diagnostics):
        left_out = f"{len(diagnostics) - len(kept)} more are omitted: a run may have {MOST_RESULTS} results"
        notice: Json = {"level": "warning", "message": {"text": left_out}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notice]}]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _kept(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """Return as many as a run may have, in their order; of too many the most severe."""
    if len(diagnostics) <= MOST_RESULTS:
        return diagnostics
    by_weight = sorted(range(len(diagnostics)), key=lambda index: SEVERITIES.index(diagnostics[index].severity))
    return [diagnostics[index] for index in sorted(by_weight[:MOST_RESULTS])]


def _rule(code: str, severity: str, own_page: str | None) -> Json:
    """Describe a code by its page; a rule of an organization has its own."""
    page = own_page or explanation(code) or f"# {code}: {code}\n"
    title, _, body = page.partition("\n")
    name = title.partition(": ")[2].replace("`", "")
    why = " ".join(body.strip().partition("\n\n")[0].split())
    address = reference(code)
    return {
        "id": code,
        "name": "".join(word[:1].upper() + word[1:] for word in name.split()),
        "shortDescription": {"text": name},
        "fullDescription": {"text": why or name},
        **({"helpUri": address} if address else {}),
        "help": {"text": body.strip() or name, "markdown": page},
        "defaultConfiguration": {"level": severity},
    }


def _result(diagnostic: Diagnostic, rule_index: int, fingerprint: str) -> dict[str, Json]:
    result: dict[str, Json] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule_index,
        "level": diagnostic.severity,
        "message": {"text": _message(diagnostic)},
        "locations": [{"physicalLocation": _place(diagnostic.span)}],
        # A fingerprint name of smspec: GitHub's uploader uses `primaryLocationLineHash` itself and would reject others.
        "partialFingerprints": {"smspecPlace/v1": fingerprint},
    }
    related: list[Json] = [
        {"message": {"text": visible(note.message)}, "physicalLocation": _place(note.span)}
        for note in diagnostic.notes
        if note.span
    ]
    if related:
        result["relatedLocations"] = related
    return result


def _fixes(diagnostic: Diagnostic, lines: Mapping[str, Sequence[str]]) -> dict[str, Json]:
    """Return the certain repair of a finding, if its text is at its position; a name keeps its quotes."""
    fix, span = diagnostic.fix, diagnostic.span
    if fix is None or span.line != span.end_line or "${{" in fix.written:
        return {}
    written = "".join(lines.get(span.file, ())[span.line - 1 : span.line])[span.column - 1 : span.end_column - 1]
    if written not in (fix.written, f"'{fix.written}'", f'"{fix.written}"'):
        return {}
    quote = written[:1] if written != fix.written and _NAME.fullmatch(fix.meant) else ""
    replacement: Json = {
        "deletedRegion": _region(span),
        "insertedContent": {"text": f"{quote}{fix.meant}{quote}"},
    }
    change: Json = {"artifactLocation": {"uri": uri_of(span.file)}, "replacements": [replacement]}
    title: Json = {"text": visible(f"Replace `{fix.written}` by `{fix.meant}`")}
    return {"fixes": [{"description": title, "artifactChanges": [change]}]}


def _message(diagnostic: Diagnostic) -> str:
    """Return the whole message, one line for each part: most viewers show only this text."""
    notes = [f"note: {note.message}" for note in diagnostic.notes if not note.span]
    help = f"help: {diagnostic.help}" if diagnostic.help else ""
    return "\n".join(visible(words) for words in (diagnostic.message, diagnostic.label, *notes, help) if words)


def _place(span: Span) -> Json:
    return {"artifactLocation": {"uri": uri_of(span.file)}, "region": _region(span)}


def _region(span: Span) -> Json:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def uri_of(file: str) -> str:
    """Return a path as a URI reference, relative if the path is; other bytes than plain characters are escaped."""
    path = posixpath.normpath(file) if file else file
    return ("file://" if path.startswith("/") else "") + quote(os.fsencode(path))


def _fingerprints(diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> list[str]:
    """Return a fingerprint of each finding that stays when lines move: its path in the tree.

    A finding without a path has the text of its line instead.
    """
    lines = {text.name: text.text.split("\n") for text in texts}
    seen: dict[str, int] = {}
    found = []
    for diagnostic in diagnostics:
        span = diagnostic.span
        place = dotted(diagnostic.path) or "".join(lines.get(span.file, [])[span.line - 1 : span.line]).strip()
        words = json.dumps([diagnostic.code, posixpath.normpath(span.file), place])
        digest = hashlib.sha256(words.encode()).hexdigest()[:32]
        seen[digest] = seen.get(digest, 0) + 1
        found.append(f"{digest}:{seen[digest]}")
    return found
