"""Build nodes from YAML events. Every limit is checked before anything is built.

The merge key ``<<`` adds entries of other mappings that the mapping itself does not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

import yaml

from smspec.diagnostics import Note, ParseErrors, Rule
from smspec.diagnostics.quoting import quoted
from smspec.source import Mapping, Node, Scalar, Sequence, Span
from smspec.source.frozen import replace
from smspec.spec.yaml.events import Event, Nesting, OpenCollection, meaning

DUPLICATE_KEY = Rule("SM106", "duplicate key")
TAG = Rule("SM107", "YAML tag")
SEVERAL_DOCUMENTS = Rule("SM108", "multiple documents")
KEY_THAT_IS_NO_TEXT = Rule("SM110", "non-string key")
UNQUOTED_VARIABLE = Rule("SM112", "unquoted variable in flow style")

# Compiled only when needed: most specs have none of these.
VARIABLE = r"\$\{\{[^{}\n]*\}\}"
_PROPERTIES = r"(?:[&!]\S*(?:\s+(?:#[^\n]*\n\s*)*)?)+"
_TAG = r"!\S*"
_BLOCKS = ("|", ">")
_span: Callable[[tuple[str, int, int, int, int]], Span] = partial(tuple.__new__, Span)  # takes half of the time
_DROPPED = Scalar("", "", False, Span("", 1, 1, 1, 1))

MERGE_OF_NO_MAPPING = Rule("SM111", "merge key without a mapping")


class Composer:
    """Builds one tree. ``masked``: the events come from a text whose ``${{ … }}`` have been masked."""

    def __init__(self, faults: ParseErrors, *, masked: bool = False) -> None:
        self._faults = faults
        self._file = faults.text.name
        self._text = faults.text.text
        self._masked = masked
        self._nesting = Nesting(faults)
        self._open = self._nesting.open
        self._documents = 0
        self._end = (1, 1)
        self.root: Node | None = None

    def compose(self, events: Iterator[Event]) -> None:
        """Process all events; ``root`` is then the tree, or None for an empty document."""
        handlers: dict[type[object], Callable[[Event], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._begin,
            yaml.SequenceStartEvent: self._begin,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
        }
        for event in events:
            kind: type[object] = type(event)
            handle = handlers.get(kind)
            if handle is not None:
                handle(event)
            elif kind is yaml.DocumentStartEvent and not self._begin_document(event):
                return

    def _begin_document(self, event: Event) -> bool:
        start, end = event.start_mark.index, event.end_mark.index
        self._documents += 1
        if self._documents > 1:
            self._faults.add(
                SEVERAL_DOCUMENTS,
                self._faults.span(start, end),
                "a second YAML document starts here: a file contains one spec",
                help="move the second spec to its own file",
            )
            return False
        return True

    def _scalar(self, event: Event) -> None:
        text, style = event.value, event.style
        self._nesting.count(1, len(text), event)
        if text and event.anchor is None and event.tag is None and style not in _BLOCKS:
            start, end = event.start_mark, event.end_mark
            self._end = end_line, end_column = end.line + 1, end.column + 1
            span = _span((self._file, start.line + 1, start.column + 1, end_line, end_column))
        else:
            span = self._unusual_span(event)
            self._end = span.end_line, span.end_column
        parent = self._open[-1] if self._open else None
        if self._masked and not style and parent is not None and parent.flow:
            self._unquoted_variables(event.start_mark.index, event.end_mark.index)
        if parent is not None and parent.items is None and parent.key is None:
            node = Scalar(text, text, not style, span)
        else:
            node = Scalar(text, text if style else meaning(text), not style, span)
        if event.anchor is not None:
            self._nesting.anchor(event.anchor, node)
        self._place(node, span)

    def _unusual_span(self, event: Event) -> Span:
        """Return the position of a scalar that is empty, a block, or has properties."""
        start, end = event.start_mark, event.end_mark
        line, column = start.line + 1, start.column + 1
        if event.anchor is not None or event.tag is not None:
            line, column = self._after_properties(event)
        if not event.value and start.index >= len(self._text):
            # libyaml puts a missing value at the very end on a line of its own.
            return self._faults.span(start.index, start.index)
        if event.style in _BLOCKS:
            # The event ends where the next value begins; point at the last line with content.
            written = self._text[start.index : end.index].rstrip()
            return Span(self._file, line, column, *_moved(start.line + 1, start.column + 1, written))
        return Span(self._file, line, column, end.line + 1, end.column + 1)

    def _begin(self, event: Event) -> None:
        self._nesting.count(2, 0, event)
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if event.anchor is not None or event.tag is not None:
            # The event begins at the anchor or tag; it ends after the bracket, or before the first key or dash.
            self._after_properties(event)
            line = event.end_mark.line + 1
            column = event.end_mark.column + (0 if event.flow_style else 1)
        self._nesting.begin(event, line, column)

    def _close(self, event: Event) -> None:
        closed = self._open.pop()
        if event.end_mark.index > event.start_mark.index:
            self._end = (event.end_mark.line + 1, event.end_mark.column + 1)
        span = Span(self._file, closed.line, closed.column, *self._end)
        node: Node
        if closed.items is not None:
            node = Sequence(tuple(closed.items), span)
        else:
            node = Mapping(tuple(spread(closed.entries, self._faults) if closed.merges else closed.entries), span)
        self._nesting.end(closed, node)
        self._place(node, span)

    def _alias(self, event: Event) -> None:
        start, end = event.start_mark, event.end_mark
        span = Span(self._file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        self._end = (span.end_line, span.end_column)
        node = self._nesting.repeat(event, span)
        if node is not None:
            self._place(replace(node, used_at=span), span)
        elif self._open and self._open[-1].items is None and self._open[-1].key is None:
            self._open[-1].key = _DROPPED
        else:
            # `<<` merges an empty mapping without a message.
            self._place(Mapping((), span), span)

    def _place(self, node: Node, written: Span) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if parent.items is not None:
            parent.items.append(node)
        elif parent.key is None:
            parent.key = self._key(parent, node, written)
        else:
            if parent.key is not _DROPPED:
                parent.entries.append((parent.key, node))
            parent.key = None

    def _key(self, parent: OpenCollection, node: Node, written: Span) -> Scalar:
        if not isinstance(node, Scalar) or (node.plain and not node.text):
            self._no_text(node, written)
            return _DROPPED
        merge = is_merge_key(node)
        same = None if merge else node.text
        first = parent.keys.get(same)
        if first is not None:
            self._faults.add(
                DUPLICATE_KEY,
                written,
                f"duplicate key {quoted(node.text)}",
                path=(*self._nesting.path(), node.text),
                help="merge several mappings with one key, `<<: [*one, *other]`" if merge else "remove one of them",
                notes=(Note("first set here", first),),
            )
            return _DROPPED
        parent.keys[same] = written
        parent.merges = parent.merges or merge
        return node if node.value.__class__ is str else replace(node, value=node.text)

    def _no_text(self, node: Node, written: Span) -> None:
        if isinstance(node, Scalar):
            message, help = "missing key before `:`", "add the key, or use quotes if this is a string"
        else:
            what = "list" if isinstance(node, Sequence) else "mapping"
            message, help = (
                f"a {what} cannot be a key: YAML reads `[…]` and `{{…}}` as values",
                "use quotes if this is a string",
            )
        self._faults.add(KEY_THAT_IS_NO_TEXT, written, message, help=help)

    def _unquoted_variables(self, start: int, end: int) -> None:
        for match in re.compile(VARIABLE).finditer(self._text, start, end):
            unquoted_variable(self._faults, match.start(), match.end())

    def _after_properties(self, event: Event) -> tuple[int, int]:
        """Reject a tag; return the line and column where the value itself begins."""
        start = event.start_mark.index
        end = max(start, event.end_mark.index)
        properties = re.compile(_PROPERTIES).match(self._text, start, end)
        if event.tag is not None:
            tag = re.compile(_TAG).search(self._text, start, end)
            at = tag.span() if tag else (start, end)
            self._faults.add(
                TAG,
                self._faults.span(*at),
                f"YAML tag {quoted(self._text[at[0] : at[1]])} is not allowed",
                help="remove it; use quotes to make the value a string",
            )
        past = properties[0] if properties else ""
        return _moved(event.start_mark.line + 1, event.start_mark.column + 1, past)


def _moved(line: int, column: int, past: str) -> tuple[int, int]:
    """Return the position after ``past``, which begins at a line and column."""
    breaks = past.count("\n")
    return (line + breaks, len(past) - past.rfind("\n")) if breaks else (line, column + len(past))


def unquoted_variable(faults: ParseErrors, start: int, end: int) -> None:
    """Report a variable that YAML would split into parts."""
    faults.add(
        UNQUOTED_VARIABLE,
        faults.span(start, end),
        "unquoted `${{ … }}` inside `{…}` or `[…]`",
        help='use quotes, "${{ vars.name }}", or move each key to its own line',
    )


def is_merge_key(key: Scalar) -> bool:
    """Return whether a key is the merge key; ``"<<"`` in quotes is an ordinary key."""
    return key.plain and key.text == "<<" and key.used_at is None


def spread(entries: list[tuple[Scalar, Node]], faults: ParseErrors) -> list[tuple[Scalar, Node]]:
    """Return the entries with those of every ``<<`` in its place.

    Written keys win over merged ones; of several mappings, the first that has the key wins.
    """
    taken = {key.text for key, _ in entries if not is_merge_key(key)}
    spread_entries: list[tuple[Scalar, Node]] = []
    for key, value in entries:
        if not is_merge_key(key):
            spread_entries.append((key, value))
            continue
        for mapping, used_at in _mappings(value, faults):
            for name, merged in mapping.entries:
                if name.text not in taken:
                    taken.add(name.text)
                    through = merged if merged.used_at or not used_at else replace(merged, used_at=used_at)
                    spread_entries.append((name, through))
    return spread_entries


def _mappings(value: Node, faults: ParseErrors) -> Iterator[tuple[Mapping, Span | None]]:
    for item in value.items if isinstance(value, Sequence) else (value,):
        used_at = item.used_at or value.used_at
        if isinstance(item, Mapping):
            yield item, used_at
        else:
            faults.add(
                MERGE_OF_NO_MAPPING,
                used_at or item.span,
                "`<<` can merge only mappings",
                help="use `<<: *name`, where `&name` marks a mapping, or a list of such aliases",
            )
