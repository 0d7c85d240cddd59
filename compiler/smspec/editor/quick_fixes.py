"""Changes that an editor offers for findings: what `validate --fix` writes, and an entry in `checks.ignore`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.editor.tolerant_outline import TolerantOutline
from smspec.rules.suppressions import NEVER_IGNORED
from smspec.source import Document, SourceText, Span, dotted
from smspec.source.frozen import dataclass
from smspec.spec.yaml.scalar_edits import applicable, edited, in_style_of, written_at
from smspec.spec.yaml.yaml_reader import read

_REASON = "explain why"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickFix:
    """``text`` replaces what is at ``span``, whose lines and columns count from 1."""

    title: str
    diagnostic: Diagnostic
    span: Span
    text: str
    is_preferred: bool = False


def quick_fixes(text: str, diagnostics: Iterable[Diagnostic]) -> Iterator[QuickFix]:
    """Yield the changes for findings in one text; none for a text that is not YAML."""
    found = tuple(diagnostics)
    name = next((diagnostic.span.file for diagnostic in found), "")
    try:
        document = read(SourceText(name, text))
    except InvalidInput:
        return
    yield from repairs(document, found)
    lines = text.removeprefix("\ufeff").split("\n")
    for diagnostic in found:
        if not diagnostic.code.startswith(NEVER_IGNORED):
            yield _ignoring(diagnostic, name, lines)


def repairs(document: Document, diagnostics: Iterable[Diagnostic]) -> Iterator[QuickFix]:
    """Yield the certain repairs of findings, if their text is still there and nothing else would change."""
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or not applicable(document, {diagnostic.span: fix}):
            continue
        if edited(document, {diagnostic.span: fix}) is None:
            continue
        text = in_style_of(written_at(document, diagnostic.span), fix.meant)
        title = f"Replace `{fix.written}` by `{fix.meant}`"
        yield QuickFix(title=title, diagnostic=diagnostic, span=diagnostic.span, text=text, is_preferred=True)


def _ignoring(diagnostic: Diagnostic, name: str, lines: Sequence[str]) -> QuickFix:
    at = f", at: {json.dumps(dotted(diagnostic.path), ensure_ascii=False)}" if diagnostic.path else ""
    entry = f"{{rule: {diagnostic.code}{at}, because: {_REASON}}}"
    line, text = _insertion(lines, entry)
    column = 1
    if line == len(lines) and lines[-1]:  # the last line has no end
        column, text = len(lines[-1]) + 1, "\n" + text
    span = Span(name, line, column, line, column)
    return QuickFix(title=f"Ignore {diagnostic.code} here", diagnostic=diagnostic, span=span, text=text)


def _insertion(lines: Sequence[str], entry: str) -> tuple[int, str]:
    """Return the line, from 1, before which an entry is inserted, and its lines."""
    entries = {e.path: e for e in TolerantOutline(lines).entries}
    ignore, first = entries.get(("checks", "ignore")), entries.get(("checks", "ignore", 0))
    if ignore is not None and ignore.key is not None and first is not None:
        below = ignore.key.line + 1
        if below < len(lines) and lines[below].lstrip().startswith("- "):
            indent = len(lines[below]) - len(lines[below].lstrip())
            return below + 1, f"{' ' * indent}- {entry}\n"
    checks = entries.get(("checks",))
    if checks is not None and checks.key is not None and ignore is None and checks.value is None:
        line = lines[checks.key.line]
        if not line[checks.key.end :].strip(" :"):
            return checks.key.line + 2, f"  ignore:\n    - {entry}\n"
    return len(lines), f"checks:\n  ignore:\n    - {entry}\n"
