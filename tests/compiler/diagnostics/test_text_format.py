"""Frames of diagnostics: short, long, wide, and cut lines."""

import re

from smspec.diagnostics import Diagnostic, Note
from smspec.diagnostics.text_format import LINE_LIMIT, framed
from smspec.source import SourceText, Span


def span(line, column, end_column, end_line=None, file="job.yaml"):
    return Span(file, line, column, end_line or line, end_column)


def shown(text, where, *, colour=False, texts=None, **members):
    diagnostic = Diagnostic(**{"code": "SM204", "severity": "error", "message": "wrong", "span": where, **members})
    return framed([diagnostic], texts or [SourceText("job.yaml", text)], colour=colour)


def underlined(frame):
    """Return the text over the carets, by columns."""
    lines = frame.split("\n")
    at = next(i for i, line in enumerate(lines) if re.match(r" +\| *\^", line))
    start = lines[at].index("^")
    return lines[at - 1][start : start + lines[at].count("^")]


def test_alike_notes_are_one_line():
    notes = [
        Diagnostic(
            code="SM523",
            severity="note",
            message=f"`{name}` is not checked",
            span=Span("job.yaml", 3, 1, 3, 2),
            help="run it",
        )
        for name in "ab"
    ]
    error = Diagnostic(code="SM204", severity="error", message="unknown key", span=Span("other.yaml", 1, 1, 1, 2))
    text = framed([notes[0], error, notes[1]], [])
    assert text.endswith("\n\nnote[SM523]: `a` is not checked (job.yaml:3, and 1 more like it); run it\n")
    assert text.startswith("error[SM204]")


def test_frame_shows_line_and_carets():
    text = "smspec: v1\n" * 8 + "  instance_typ: ml.g5.xlarge\n"
    diagnostic = Diagnostic(
        code="SM204",
        severity="error",
        message="unknown key `instance_typ` in `hosts`",
        span=Span("specs/bert/job.yaml", 9, 3, 9, 15),
        label="did you mean `instance_type`?",
    )
    assert framed([diagnostic], [SourceText("specs/bert/job.yaml", text)]) == (
        "error[SM204]: unknown key `instance_typ` in `hosts`\n"
        "  --> specs/bert/job.yaml:9:3\n"
        "   |\n"
        " 9 |   instance_typ: ml.g5.xlarge\n"
        "   |   ^^^^^^^^^^^^ did you mean `instance_type`?\n"
    )


def test_gutter_fits_the_longest_line_number():
    frame = shown("a: 1\n" * 120, span(120, 1, 2), notes=(Note("first here", span(7, 1, 2)),))
    assert frame == (
        "error[SM204]: wrong\n"
        "    --> job.yaml:120:1\n"
        "     |\n"
        " 120 | a: 1\n"
        "     | ^\n"
        "     |\n"
        "     = note: first here\n"
        "    --> job.yaml:7:1\n"
        "     |\n"
        "   7 | a: 1\n"
        "     | ^\n"
    )


def test_frame_shows_notes_and_help():
    frame = shown("a: 1\n", span(1, 4, 5), notes=(Note("with the overlay `dev`"),), help="write 2")
    assert frame.endswith("   |\n   = note: with the overlay `dev`\n   = help: write 2\n")


def test_two_diagnostics_are_separated_by_an_empty_line():
    diagnostics = [Diagnostic(code="SM204", severity="warning", message=m, span=span(1, 1, 2)) for m in ("one", "two")]
    frames = framed(diagnostics, [SourceText("job.yaml", "a: 1")])
    assert frames.count("\n\nwarning[SM204]: two\n") == 1
    assert not frames.endswith("\n\n")


def test_carets_align_below_wide_characters():
    """The place counts code points; the carets count columns."""
    frame = shown("日本: ungültig e\u0301x bad\n", span(1, 18, 21))
    assert "job.yaml:1:18" in frame
    source, carets = frame.split("\n")[3:5]
    assert source == " 1 | 日本: ungültig e\u0301x bad"
    assert carets == "   | " + " " * (2 + 2 + 2 + len("ungültig ") + len("ex ")) + "^^^"


def test_wide_characters_are_underlined_whole():
    assert " 1 | k: 日本\n   |    ^^^^\n" in shown("k: 日本\n", span(1, 4, 6))


def test_tab_is_shown_as_spaces():
    frame = shown("a:\tb\n", span(1, 4, 5))
    assert " 1 | a:    b\n   |       ^\n" in frame
    assert "job.yaml:1:4" in frame


def test_long_line_is_cut_around_the_fault():
    line = "k: [" + ", ".join(f"item{i}" for i in range(200)) + "]"
    start = line.index("item100")
    frame = shown(line, span(1, start + 1, start + 8))
    source = frame.split("\n")[3]
    assert len(source) <= LINE_LIMIT + 6
    assert source.startswith(" 1 | …")
    assert source.endswith("…")
    assert underlined(frame) == "item100"


def test_fault_longer_than_the_screen_is_cut():
    frame = shown("k: " + "v" * 500, span(1, 4, 504))
    assert len(frame.split("\n")[3]) <= LINE_LIMIT + 6
    assert underlined(frame).endswith("v…")


def test_first_line_of_a_multi_line_fault_is_shown():
    frame = shown("hosts:\n  a: 1\n  b: 2\n", span(1, 1, 7, end_line=3))
    assert underlined(frame) == "hosts:"
    assert "a: 1" not in frame


def test_fault_at_the_end_of_a_file_has_a_caret():
    frame = shown("a: [1,\n", span(2, 1, 1))
    assert " 2 |\n   | ^\n" in frame


def test_fault_in_a_missing_text_has_only_a_position():
    frame = shown("", span(3, 1, 2, file="gone.yaml"))
    assert frame == "error[SM204]: wrong\n  --> gone.yaml:3:1\n"


def test_control_characters_are_escaped():
    text = 'k: "\x1b[2J\u202egpj\x9b31m"\n'
    frame = shown(
        text, span(1, 4, 9), message="`\x1b]0;pwned\x07` \u2066is\u2069 not\nthere", label="\x1b[1m", help="\r"
    )
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", frame)
    assert "\\x1b[2J" in frame
    assert "error[SM204]: `\\x1b]0;pwned\\x07` \\u2066is\\u2069 not\\x0athere\n" in frame


def test_color_changes_only_escape_sequences():
    text, where = "a: 1\nb: 日\n", span(2, 4, 5)
    members = {"label": "here", "help": "write 1", "notes": (Note("first", span(1, 1, 2)), Note("and more"))}
    plain, coloured = (shown(text, where, colour=colour, **members) for colour in (False, True))
    assert coloured != plain
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain


def test_carriage_returns_at_line_ends_are_not_shown():
    assert " 1 | a: 1\n" in shown("a: 1\r\nb: 2\r\n", span(1, 1, 2))
