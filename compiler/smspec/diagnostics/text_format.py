"""Diagnostics for people: the message, the position, the source line with the error underlined, and the help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from smspec.diagnostics import Diagnostic
from smspec.diagnostics.quoting import MASK, masked, visible
from smspec.diagnostics.wrapping import width
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass

LINE_LIMIT = 120
"""Longer source lines are truncated around the error."""

CONTEXT = 40
"""Code points before the error that stay when a line is truncated."""

BRIEF = ("SM523", "SM832")
"""Notes that most specs of a repository get for the same reason: together they are one line, after the frames."""

OF_VALIDATE = ("SM832",)
"""Notes that other commands do not show: they say it themselves, if it matters to them."""

_SECRETS = ("SM601", "SM602", "SM616", "SM618")

Paint = Callable[[str, str], str]

_STYLES = {"error": "1;31", "warning": "1;33", "note": "1;32", "gutter": "1;34", "message": "1", "label": "36"}


def framed(
    diagnostics: Iterable[Diagnostic],
    texts: Iterable[SourceText],
    *,
    colour: bool = False,
    columns: int | None = None,
    brief: Sequence[str] = BRIEF,
) -> str:
    """Return the diagnostics as text, one frame each, separated by empty lines.

    ``columns``: those of the screen; None for a file, where each message is one line. ``brief``: codes of notes that
    are one line together.
    """
    diagnostics = tuple(diagnostics)
    lines = {text.name: masked(text.text).split("\n") for text in texts}
    for diagnostic in diagnostics:
        if diagnostic.code.startswith(_SECRETS):
            _conceal(diagnostic.span, lines)
    paint: Paint = (lambda style, text: f"\x1b[{_STYLES[style]}m{text}\x1b[0m") if colour else (lambda _, text: text)
    framed = [each for each in diagnostics if each.code not in brief]
    together = {code: [each for each in diagnostics if each.code == code] for code in brief}
    shown = [_frame(diagnostic, lines, paint, columns) for diagnostic in framed]
    shown += [_line_of(alike, paint, columns) for alike in together.values() if alike]
    return "\n".join(shown)


def _line_of(alike: list[Diagnostic], paint: Paint, columns: int | None) -> str:
    """Return one line for notes with the same code: the first of them, where it is, and how many there are."""
    first, more = alike[0], len(alike) - 1
    place = f"{first.span.file}:{first.span.line}" + (f", and {more} more like it" if more else "")
    text = visible(f": {first.message} ({place})" + (f"; {first.help}" if first.help else ""))
    head = f"{first.severity}[{first.code}]"
    line = _wrapped(text, columns, first=head, rest=" " * len(f"{head}: "))
    return paint(first.severity, head) + line.removeprefix(head) + "\n"


def _frame(diagnostic: Diagnostic, lines: dict[str, list[str]], paint: Paint, columns: int | None) -> str:
    spans = [diagnostic.span, *(note.span for note in diagnostic.notes if note.span)]
    gutter = max(len(str(span.line)) for span in spans)
    margin = " " * (gutter + 2)
    bar = paint("gutter", f"{margin}|")
    excerpts = _Excerpts(lines=lines, gutter=gutter, paint=paint, columns=columns)

    def remark(kind: str, text: str) -> str:
        plain = f"{margin}= {kind}: "
        body = _wrapped(visible(text), columns, first=plain, rest=" " * len(plain)).removeprefix(plain)
        return f"{paint('gutter', f'{margin}=')} {paint('message', kind)}: {body}"

    severity = diagnostic.severity
    head = f"{severity}[{diagnostic.code}]"
    message = _wrapped(f": {visible(diagnostic.message)}", columns, first=head, rest=" " * len(f"{head}: "))
    shown = [paint(severity, head) + paint("message", message.removeprefix(head))]
    shown += [*excerpts.of(diagnostic.span, diagnostic.label, severity), bar]
    for note in diagnostic.notes:
        shown.append(remark("note", note.message))
        if note.span:
            shown += excerpts.of(note.span, "", "gutter")
            shown += [bar] * (note.span.file in lines)
    if diagnostic.help:
        shown.append(remark("help", diagnostic.help))
    if shown[-1] == bar:
        shown.pop()  # it belongs to a note or a help
    return "\n".join(shown) + "\n"


def _conceal(span: Span, lines: dict[str, list[str]]) -> None:
    """Mask a value that only its position identifies as a secret, such as the word after `--api-key`."""
    line = _line(lines, span)
    if line is not None:
        start, end = _columns(span, line)
        if line[start:end] and MASK not in line[start:end]:
            lines[span.file][span.line - 1] = line[:start] + MASK * (end - start) + line[end:]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Excerpts:
    """What the source lines of a frame are drawn with; ``gutter``: the digits of the longest line number."""

    lines: dict[str, list[str]]
    gutter: int
    paint: Paint
    columns: int | None

    def of(self, span: Span, label: str, style: str) -> list[str]:
        """Return the position, and its line with the error underlined."""
        gutter, paint = self.gutter, self.paint
        arrow, bar = paint("gutter", " " * (gutter + 1) + "-->"), paint("gutter", " " * (gutter + 2) + "|")
        place = f"{arrow} {visible(span.file)}:{span.line}:{span.column}"
        text = _line(self.lines, span)
        if text is None:
            return [place]
        room = _room(self.columns, gutter)
        before, fault, after = _cut(text, *_columns(span, text), room)
        start = width(before)
        carets = "^" * max(1, width(fault))
        under = [" " * start + paint(style, carets)]
        if label and self.columns is not None and start + len(carets) + 1 + width(label) > room:
            # In lines below: beside the error it would be broken by the terminal.
            indent = " " * min(start, room // 2)
            below = _wrapped(visible(label), room, first=indent, rest=indent)
            under += [paint(style, each) for each in below.split("\n")]
        elif label:
            under[0] += " " + paint(style, visible(label))
        number = paint("gutter", f" {span.line:>{gutter}} |")
        return [place, bar, f"{number} {before}{fault}{after}".rstrip(), *(f"{bar} {each}" for each in under)]


def _room(columns: int | None, gutter: int) -> int:
    """Return how many columns a source line may take beside its number."""
    if columns is None:
        return LINE_LIMIT
    from smspec.diagnostics.wrapping import LEAST_COLUMNS  # imported late: on a screen only

    return max(LEAST_COLUMNS, min(LINE_LIMIT, columns - gutter - 4))


def _wrapped(text: str, columns: int | None, *, first: str, rest: str) -> str:
    if columns is None:
        return first + text
    from smspec.diagnostics.wrapping import wrapped  # imported late: on a screen only

    return wrapped(text, columns, first=first, rest=rest)


def _line(lines: dict[str, list[str]], span: Span) -> str | None:
    """Return the line at the start of the span; empty at the end of the text, None if the text is unknown."""
    known = lines.get(span.file)
    if known is None:
        return None
    return known[span.line - 1].removesuffix("\r") if span.line <= len(known) else ""


def _columns(span: Span, text: str) -> tuple[int, int]:
    """Return the first and the last column of the error in its first line, counted from 0, the last excluded."""
    start = min(span.column - 1, len(text))
    if span.end_line > span.line:
        # Only the first line is shown: the error starts there, and a block of twenty lines would hide it.
        return start, max(start, len(text.rstrip()))
    return start, max(start, min(span.end_column - 1, len(text)))


def _cut(text: str, start: int, end: int, limit: int) -> tuple[str, str, str]:
    """Return the text before the error, the error, and the rest, truncated to ``limit`` code points."""
    before, fault, after = text[:start], text[start:end], text[end:]
    if len(text) > limit:
        if len(before) > min(CONTEXT, limit // 3):
            before = "…" + before[-min(CONTEXT, limit // 3) :]
        room = limit - len(before)
        if len(fault) > room:
            fault, after = fault[: room - 1] + "…", ""
        elif len(fault) + len(after) > room:
            after = after[: max(0, room - len(fault) - 1)] + "…"
    return visible(before), visible(fault), visible(after)
