"""Answer the questions of an editor about an open spec: completion, hover, definition, fixes, order, and outline."""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.editor.checking import Checking
from smspec.editor.completions import Item, completions
from smspec.editor.cursor_place import place_at
from smspec.editor.definition import definition_at
from smspec.editor.hover import hover_at
from smspec.editor.job_layers import JobLayers, job_layers
from smspec.editor.locations import column_of, position_at, range_in_line, range_of
from smspec.editor.open_documents import OpenDocument, OpenDocuments
from smspec.editor.quick_fixes import QuickFix, quick_fixes
from smspec.editor.symbols import symbols
from smspec.source import SourceText
from smspec.spec.key_order import in_order
from smspec.spec.yaml.text_limits import MAX_BYTES

_KINDS = {
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "name": types.CompletionItemKind.Reference,
    "type": types.CompletionItemKind.Value,
    "variable": types.CompletionItemKind.Variable,
    "code": types.CompletionItemKind.Constant,
    "file": types.CompletionItemKind.File,
}


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
        line, lines = params.position.line, document.lines
        column = column_of(lines[line], params.position.character) if line < len(lines) else 0
        found = hover_at(_layers(document, documents), line, column)
        if found is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, found.text)
        return types.Hover(content, range_in_line(lines, line, found.start, found.end))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        document = _spec(documents, params.text_document.uri)
        if document is None:
            return None
        line, lines = params.position.line, document.lines
        column = column_of(lines[line], params.position.character) if line < len(lines) else 0
        layers = _layers(document, documents)
        target = definition_at(layers, line, column)
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
