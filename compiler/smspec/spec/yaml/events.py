"""The events of a YAML text, what is open while they arrive, and the values of plain scalars.

Open are collections and anchors; the size limits count with them.

The events are from libyaml where PyYAML has it. Other YAML parsers, of versions 1.1 and 1.2, read some unquoted strings
as values of another type. So a value that smspec writes as one line of YAML has quotes where any parser needs them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Protocol, cast

import yaml

from smspec.diagnostics import ParseErrors, Rule
from smspec.diagnostics.quoting import quoted
from smspec.diagnostics.suggestions import nearest
from smspec.source import Node, Path, Scalar, Span

BEYOND_THE_LIMITS = Rule("SM104", "spec beyond the limits")

MAX_BYTES = 1_048_576
MAX_DEPTH = 64
MAX_PARTS = 20_000
"""One for every scalar, two for every list or mapping, counted again for each alias."""

# A JSON number, or one of the forms .5 5. +5 that authors write. Only ASCII digits.
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(\.[0-9]*)?|(\.[0-9]+))([eE][-+]?[0-9]+)?")

_WORDS: dict[str, float | bool | None] = {
    # Booleans and nulls of the core schema (YAML 1.2.2, section 10.3.2).
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~"), None),
    ".inf": float("inf"),
    "+.inf": float("inf"),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}

_FIRST_OF_A_NUMBER = frozenset("+-.0123456789")

_INFINITE = (float("inf"), float("-inf"))

_PLAIN = re.compile(r"[A-Za-z0-9./_-](?:[A-Za-z0-9 ./_@+=:-]*[A-Za-z0-9./_@+=-])?")

# YAML 1.1 (https://yaml.org/type/): bool, null, merge, and value. PyYAML rejects a document with the last two as
# values.
_WORDS_ELSEWHERE = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "<<", "="))
# Its int, float and timestamp, with the octal numbers of 1.2: `1_000`, `1:30`, `0o17`, `017`, `2026-01-31`.
_NUMBER_OR_DATE = (
    r"[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*(?::[0-9]+)*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:e[-+]?[0-9]+)?|\.inf|\.nan)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t \t].*)?"
)

_BOOLEANS = frozenset(
    (*(form(word) for word in ("yes", "no", "on", "off") for form in (str.lower, str.capitalize, str.upper)), *"yYnN")
)

_NUMBER_ELSEWHERE = (
    # YAML 1.1: binary, octal, hexadecimal, decimal and base 60, all with underscores.
    r"[-+]?(?:0b[01_]*[01][01_]*|0[0-7_]+|0x[0-9a-fA-F_]*[0-9a-fA-F][0-9a-fA-F_]*|[1-9][0-9_]*(?::[0-5]?[0-9])*"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])*\.[0-9_]*|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
    # YAML 1.2 core schema: leading zeros, octal, and numbers too large for a float.
    r"|0o[0-7]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
)

_DATE = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?"
)
# The first characters of numbers and dates. Few strings have them, so the patterns are compiled on first use.
_FIRST = tuple("-+.0123456789")


def meaning(text: str) -> str | int | float | bool | None:
    """Return the value of a plain scalar: a number, true, false, null, or the text itself.

    Empty text is null too, as after ``key:``. What looks like a number but is too large to be one, such as the commit
    ``695e0514``, is a string: no program could read it back.
    """
    if not text:
        return None
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST_OF_A_NUMBER:
        return text
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    number = float(text)
    if number in _INFINITE:
        return text
    return number if match.lastindex else int(text)


def flow_style(value: object) -> str:
    """Return ``value`` in flow style, with quotes only where they are needed."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow_style(str(key))}: {flow_style(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow_style(item) for item in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and ": " not in value and not value.startswith("- ") and is_text_everywhere(value):
        return value
    # Single quotes keep backslashes, so the regular expressions of metrics stay readable.
    return "'" + value.replace("'", "''") + "'" if "\\" in value else json.dumps(value, ensure_ascii=False)


def read_elsewhere_as(text: str) -> str:
    """Return how some other parser reads a string: `a boolean`, `a number`, `a date`; empty if all read a string.

    Exact, so a warning can be based on it. `is_text_everywhere` errs on the side of quotes.
    """
    if meaning(text) != text:
        return ""
    if text in _BOOLEANS:
        return "a boolean"
    if not text.startswith(_FIRST):
        return ""
    if re.fullmatch(_NUMBER_ELSEWHERE, text):
        return "a number"
    return "a date" if re.fullmatch(_DATE, text) else ""


def is_text_everywhere(text: str) -> bool:
    """Return whether no parser reads ``text`` as a number, a date, true, false, null, or a merge.

    It does not check characters that have a meaning in some places, such as ``: `` or a leading ``*``.
    """
    return (
        meaning(text) == text
        and text.lower() not in _WORDS_ELSEWHERE
        and not (text.startswith(_FIRST) and re.fullmatch(_NUMBER_OR_DATE, text, re.IGNORECASE))
    )


BROKEN_YAML = Rule("SM101", "invalid YAML")

# PyYAML's Python parser emits the same events as libyaml, about twenty times slower.
PARSER: type[yaml.BaseLoader] | type[yaml.CBaseLoader] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

BAD_ALIAS = Rule("SM105", "alias without an anchor")

# Names come from the author: comparing thousands of them, or one of a megabyte, would take minutes.
_MOST_COMPARED = 50
_LONGEST_COMPARED = 50


class Mark(Protocol):
    """A position; ``line`` and ``column`` count from 0, everything in code points."""

    index: int
    line: int
    column: int


class Event(Protocol):
    """The attributes of PyYAML's event classes. Each event has some of them; code reads only those that it has."""

    start_mark: Mark
    end_mark: Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str | None
    flow_style: bool | None


def events_of(text: str, faults: ParseErrors) -> Iterator[Event]:
    """Yield the events of ``text``; raise `yaml.MarkedYAMLError` where it is not YAML."""
    count = 0
    try:
        for event in _events_of(PARSER, text, faults):
            yield event
            count += 1
    except yaml.MarkedYAMLError as error:
        if PARSER is yaml.BaseLoader or "nesting depth" not in (error.problem or ""):
            raise
        # libyaml stops at a depth of 1,000 from 0.2.6 on, by an error of its own, before it emits what leads there. The
        # Python parser emits it, so the text is beyond the limit of smspec at the same place with every version.
        yield from islice(_events_of(yaml.BaseLoader, text, faults), count, None)


def _events_of(
    loader: type[yaml.BaseLoader] | type[yaml.CBaseLoader], text: str, faults: ParseErrors
) -> Iterator[Event]:
    parser = loader(text)
    following = cast("Callable[[], Event]", parser.get_event)
    while True:
        try:
            event = following()
        except ValueError:
            # The Python parser raises this for "\UFFFFFFFF"; libyaml raises a proper error.
            mark = cast("yaml.BaseLoader", parser).get_mark()
            _refuse_escape(faults, mark.index)
            raise faults.rejected() from None
        kind: type[object] = type(event)
        if kind is yaml.ScalarEvent and event.style == '"' and not _is_text(event):
            _refuse_escape(faults, event.start_mark.index)
            raise faults.rejected()
        yield event
        if kind is yaml.StreamEndEvent:
            return


def _is_text(event: Event) -> bool:
    """Return whether a quoted text has no surrogates, which the Python parser makes from "\\ud800"."""
    return event.value.isascii() or not any("\ud800" <= c <= "\udfff" for c in event.value)


def _refuse_escape(faults: ParseErrors, at: int) -> None:
    help = 'use the character itself, or its full code point: "\\U0001F600"'
    faults.add(BROKEN_YAML, faults.span(at, at + 1), "escape sequence that is not a character", help=help)


class Anchored:
    """A value that aliases may repeat, and the cost of each repetition."""

    __slots__ = ("characters", "height", "node", "parts")

    def __init__(self, node: Node, *, parts: int, characters: int, height: int) -> None:
        self.node = node
        self.parts = parts
        self.characters = characters
        self.height = height


class OpenCollection:
    """A list or mapping whose end has not been read. ``parts`` and ``characters`` are the counts at its start."""

    __slots__ = (
        "anchor",
        "characters",
        "column",
        "entries",
        "flow",
        "height",
        "items",
        "key",
        "keys",
        "line",
        "merges",
        "parts",
    )

    def __init__(self, event: Event, line: int, column: int, parts: int, characters: int) -> None:
        self.anchor = event.anchor
        self.flow = bool(event.flow_style)
        self.line = line
        self.column = column
        self.parts = parts
        self.characters = characters
        self.height = 0
        kind: type[object] = type(event)
        self.items: list[Node] | None = [] if kind is yaml.SequenceStartEvent else None
        self.entries: list[tuple[Scalar, Node]] = []
        # The merge key is None: `"<<"` in quotes is a different key.
        self.keys: dict[str | None, Span] = {}
        self.key: Scalar | None = None
        self.merges = False


class Nesting:
    """The open collections, innermost last, and the budget that all of them share."""

    def __init__(self, faults: ParseErrors) -> None:
        self._faults = faults
        self._parts = 0
        self._characters = 0
        self._anchors: dict[str, Anchored | None] = {}
        self.open: list[OpenCollection] = []

    def count(self, parts: int, characters: int, event: Event) -> None:
        """Add to the counts; raise `InvalidInput` above the limit."""
        self._parts += parts
        self._characters += characters
        if self._parts > MAX_PARTS:
            self._refuse(event, f"the spec has more than {MAX_PARTS:,} keys and values")
        if self._characters > MAX_BYTES:
            self._refuse(event, "the spec has more than 1 MiB of text")

    def begin(self, event: Event, line: int, column: int) -> None:
        """Open a collection; it must not contain an alias of its own anchor."""
        if len(self.open) >= MAX_DEPTH:
            self._too_deep(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self.open.append(OpenCollection(event, line, column, self._parts, self._characters))

    def end(self, closed: OpenCollection, node: Node) -> None:
        """Make a collection that was removed from ``open`` available to aliases."""
        height = closed.height + 1
        if closed.anchor is not None:
            parts, characters = self._parts - closed.parts + 2, self._characters - closed.characters
            self._anchors[closed.anchor] = Anchored(node, parts=parts, characters=characters, height=height)
        self._raise_to(height)

    def anchor(self, name: str, scalar: Scalar) -> None:
        """Make a scalar available to aliases."""
        self._anchors[name] = Anchored(scalar, parts=1, characters=len(scalar.text), height=0)

    def repeat(self, event: Event, span: Span) -> Node | None:
        """Return the value of the alias at ``span`` and count it; None if there is no such value."""
        name = event.anchor or ""
        anchored = self._anchors.get(name)
        if anchored is None:
            self.count(1, 0, event)
            self._without_value(name, span)
            return None
        self.count(anchored.parts, anchored.characters, event)
        if len(self.open) + anchored.height > MAX_DEPTH:
            self._too_deep(event)
        self._raise_to(anchored.height)
        return anchored.node

    def path(self) -> Path:
        """Return the path of the innermost open collection."""
        steps: list[str | int] = []
        for above in self.open[:-1]:
            if above.items is not None:
                steps.append(len(above.items))
            elif above.key is not None:
                steps.append(above.key.text)
        return tuple(steps)

    def _raise_to(self, height: int) -> None:
        if self.open and self.open[-1].height < height:
            self.open[-1].height = height

    def _without_value(self, name: str, span: Span) -> None:
        if name in self._anchors:
            self._faults.add(BAD_ALIAS, span, f"alias {quoted('*' + name)} is inside the value that it repeats")
            return
        known = [anchor for anchor in islice(self._anchors, _MOST_COMPARED) if len(anchor) <= _LONGEST_COMPARED]
        near = nearest(name, known) if len(name) <= _LONGEST_COMPARED else None
        self._faults.add(
            BAD_ALIAS,
            span,
            f"alias {quoted('*' + name)} has no anchor {quoted('&' + name)} above it",
            label=f"did you mean `*{near}`?" if near else "",
            help="add the anchor above, or use quotes for a string that starts with `*`",
        )

    def _too_deep(self, event: Event) -> None:
        self._refuse(event, f"lists and mappings are nested deeper than {MAX_DEPTH} levels")

    def _refuse(self, event: Event, message: str) -> None:
        self._faults.add(
            BEYOND_THE_LIMITS,
            self._faults.span(event.start_mark.index, event.end_mark.index),
            message + (", including repeated aliases" if self._anchors else ""),
            help="move data to a file in `source`, or to a channel",
        )
        raise self._faults.rejected()
