"""The events of a YAML text, from libyaml where PyYAML has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Protocol, cast

import yaml

from smspec.diagnostics import Rule
from smspec.diagnostics.diagnostic import ParseErrors

BROKEN_YAML = Rule("SM101", "invalid YAML")

# PyYAML's Python parser emits the same events as libyaml, about twenty times slower.
PARSER: type[yaml.BaseLoader] | type[yaml.CBaseLoader] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


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


def events(text: str, faults: ParseErrors) -> Iterator[Event]:
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
