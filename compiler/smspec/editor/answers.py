"""Answer the questions of an editor about an open spec: completion, hover, definition, fixes, order, and outline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.editor.checking import Checking
from smspec.editor.completions import Item, completions
from smspec.editor.hover import JobLayers, definition_at, hover_at, job_layers
from smspec.editor.open_documents import OpenDocument, OpenDocuments, column_of, position_at, range_in_line, range_of
from smspec.editor.tolerant_outline import OutlineEntry, TolerantOutline, place_at
from smspec.pipeline.repairing import applicable, edited, in_style_of, written_at
from smspec.rules.suppressions import NEVER_IGNORED
from smspec.source import Document, Path, SourceText, Span, dotted
from smspec.source.frozen import dataclass
from smspec.spec.key_order import in_order
from smspec.spec.yaml import read
from smspec.spec.yaml.events import MAX_BYTES

_REASON = "explain why"

_KINDS = {
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "name": types.CompletionItemKind.Reference,
    "type": types.CompletionItemKind.Value,
    "variable": types.CompletionItemKind.Variable,
    "code": types.CompletionItemKind.Constant,
    "file": types.CompletionItemKind.File,
}

_DEEPEST = 3
"""Keys below are not shown: an outline is for finding one's way."""


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


def answer_questions(server: LanguageServer, documents: OpenDocuments, checking: Checking) -> None:
    """Register an answer for each kind of question."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[" ", ".", "{", "-"]))
    def completion(ls: LanguageServer, params: types.CompletionParams) -> types.CompletionList | None:
        document = _spec(documents, params.text_document.uri)
        return None if document is None else _completion(ls, document, params.position, documents)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        document = _spec(documents, params.text_document.uri)
        if document is None:
            return None
        found = hover_at(_layers(document, documents), *_place_in(document, params.position))
        if found is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, found.text)
        return types.Hover(content, range_in_line(document.lines, params.position.line, found.start, found.end))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        document = _spec(documents, params.text_document.uri)
        if document is None:
            return None
        layers = _layers(document, documents)
        target = definition_at(layers, *_place_in(document, params.position))
        if target is None:
            return None
        own = next((layer.lines for layer in layers.layers if layer.path == target.path), ())
        word = target.word
        start = types.Position(target.line, 0)
        there = range_in_line(own, word.line, word.start, word.end) if word else types.Range(start, start)
        return types.Location(documents.uri_of(target.path), there)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        document = _spec(documents, params.text_document.uri)
        if document is None or document.path is None:
            return None
        first, last = params.range.start.line + 1, params.range.end.line + 1
        found = [
            diagnostic
            for diagnostic in checking.found_in(document.path, document.uri)
            if diagnostic.span.line <= last and diagnostic.span.end_line >= first
        ]
        return [_action(fix, document) for fix in quick_fixes(document.text, found)]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        document = _spec(documents, params.text_document.uri)
        return None if document is None else _formatting(document)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        document = _spec(documents, params.text_document.uri)
        return None if document is None else symbols(document.lines)


def _spec(documents: OpenDocuments, uri: str) -> OpenDocument | None:
    """Return an open spec; None for one above the limit, of which there is only the finding that says so."""
    document = documents.get(uri)
    return document if document is not None and len(document.text) <= MAX_BYTES and document.is_spec else None


def _place_in(document: OpenDocument, position: types.Position) -> tuple[int, int]:
    """Return the line of a position, and its column in code points; the beginning for a line that does not exist."""
    line = position.line
    return line, column_of(document.lines[line], position.character) if line < len(document.lines) else 0


def _layers(document: OpenDocument, documents: OpenDocuments) -> JobLayers:
    return job_layers(document.path, tuple(document.lines), documents.contents())


def _completion(
    ls: LanguageServer, document: OpenDocument, position: types.Position, documents: OpenDocuments
) -> types.CompletionList:
    lines = document.lines
    if position.line >= len(lines):
        return types.CompletionList(is_incomplete=False, items=[])
    column = column_of(lines[position.line], position.character)
    place = place_at(lines, position.line, column)
    if place is None:
        return types.CompletionList(is_incomplete=False, items=[])
    there = range_in_line(lines, position.line, place.start, column)
    snippets = _knows_snippets(ls)
    items = [_item(item, there, with_snippets=snippets) for item in completions(_layers(document, documents), place)]
    return types.CompletionList(is_incomplete=False, items=items)


def _knows_snippets(ls: LanguageServer) -> bool:
    text = ls.client_capabilities.text_document
    item = text.completion.completion_item if text and text.completion else None
    return bool(item and item.snippet_support)


def _item(item: Item, there: types.Range, *, with_snippets: bool) -> types.CompletionItem:
    words = types.MarkupContent(types.MarkupKind.Markdown, item.documentation) if item.documentation else None
    is_snippet = with_snippets and bool(item.snippet)
    return types.CompletionItem(
        label=item.label,
        kind=_KINDS[item.kind],
        detail=item.detail or None,
        documentation=words,
        sort_text=item.order,
        filter_text=item.label,
        text_edit=types.TextEdit(there, item.snippet if is_snippet else item.text),
        insert_text_format=types.InsertTextFormat.Snippet if is_snippet else types.InsertTextFormat.PlainText,
    )


def _action(fix: QuickFix, document: OpenDocument) -> types.CodeAction:
    lines = document.lines
    edit = types.TextEdit(range_of(lines, fix.span), fix.text)
    return types.CodeAction(
        title=fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_short(fix.diagnostic, lines)],
        is_preferred=fix.is_preferred or None,
        edit=types.WorkspaceEdit(changes={document.uri: [edit]}),
    )


def _short(diagnostic: Diagnostic, lines: list[str]) -> types.Diagnostic:
    return types.Diagnostic(
        range=range_of(lines, diagnostic.span), message=diagnostic.message, code=diagnostic.code, source="smspec"
    )


def _formatting(document: OpenDocument) -> list[types.TextEdit] | None:
    """Return the edit that `smspec fmt` would make; None for a text that is not YAML."""
    try:
        after = in_order(SourceText("", document.text)).text
    except InvalidInput:
        return None
    if after == document.text:
        return []
    lines = document.lines
    end = position_at(lines, len(lines) - 1, len(lines[-1]))
    return [types.TextEdit(types.Range(types.Position(0, 0), end), after)]


def symbols(lines: Sequence[str]) -> list[types.DocumentSymbol]:
    """Return the keys of a text, as far as it can be read."""
    entries = [e for e in TolerantOutline(lines).entries if e.key is not None and len(e.path) <= _DEEPEST]
    return _below((), entries, lines, len(lines) - 1)


def _below(path: Path, entries: list[OutlineEntry], lines: Sequence[str], last: int) -> list[types.DocumentSymbol]:
    here = [entry for entry in entries if entry.path[:-1] == path and entry.key is not None]
    found = []
    for position, entry in enumerate(here):
        assert entry.key is not None
        following = here[position + 1].key if position + 1 < len(here) else None
        end = last if following is None else max(entry.key.line, following.line - 1)
        inside = [one for one in entries if one.path[: len(entry.path)] == entry.path and one is not entry]
        name = range_in_line(lines, entry.key.line, entry.key.start, entry.key.end)
        whole = types.Range(name.start, range_in_line(lines, end, 0, len(lines[end])).end)
        found.append(
            types.DocumentSymbol(
                name=entry.key.text or '""',
                kind=types.SymbolKind.Object if entry.value is None else types.SymbolKind.Key,
                range=whole,
                selection_range=name,
                detail=entry.value.text if entry.value is not None else None,
                children=_below(entry.path, inside, lines, end),
            )
        )
    return found
