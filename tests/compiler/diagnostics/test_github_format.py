"""GitHub annotations, parsed as its runner parses them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics import Diagnostic, Note
from smspec.diagnostics.formats import workflow_commands
from smspec.diagnostics.quoting import visible
from smspec.source import Span
from support.small_job import READY
from support.smspec_command import smspec


def diagnostic(n=0, **more):
    span = Span("specs/a/job.yaml", n + 1, 3, n + 1, 6)
    return Diagnostic(**{"code": "SM204", "severity": "error", "message": f"m{n}", "span": span, **more})


def read(line):
    """Return (command, properties, message) as the runner takes a line apart."""
    command, properties, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(","))
    for escape, character in {"%2C": ",", "%3A": ":", "%0A": "\n", "%0D": "\r", "%25": "%"}.items():
        pairs = {name: value.replace(escape, character) for name, value in pairs.items()}
        if escape not in ("%2C", "%3A"):
            message = message.replace(escape, character)
    return command, pairs, message


def test_no_diagnostics_print_no_commands():
    assert workflow_commands([]) == ""


def test_finding_is_an_annotation_at_its_position():
    assert workflow_commands([diagnostic(severity="warning", help="see")]) == (
        "::warning file=specs/a/job.yaml,line=1,endLine=1,col=3,endColumn=6,title=SM204::m0%0Ahelp: see\n"
    )


def test_note_is_a_notice():
    (line,) = workflow_commands([diagnostic(severity="note")]).splitlines()
    assert read(line)[0] == "notice"


def test_multi_line_finding_has_no_columns():
    (line,) = workflow_commands([diagnostic(span=Span("job.yaml", 1, 3, 4, 2))]).splitlines()
    assert read(line)[1] == {"file": "job.yaml", "line": "1", "endLine": "4", "title": "SM204"}


def test_title_names_the_key_unless_the_message_does():
    path = ("channels", "train", "shuffle_seed")
    for message, title in (("unused", "SM204 channels.train.shuffle_seed"), ("`channels.train.shuffle_seed`", "SM204")):
        (line,) = workflow_commands([diagnostic(path=path, message=message)]).splitlines()
        assert read(line)[1]["title"] == title


def test_notes_are_appended_to_the_message():
    notes = (Note("with the overlay `dev`"), Note("first written here", Span("b.yaml", 7, 1, 7, 2)))
    (line,) = workflow_commands([diagnostic(notes=notes)]).splitlines()
    assert read(line)[2] == "m0\nnote: with the overlay `dev`\nnote: first written here (b.yaml:7:1)"


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8", exclude_characters="\n\r")))
def test_text_cannot_end_the_line_or_become_a_command(message, file):
    found = diagnostic(message=message or "m", span=Span(file or "f", 1, 1, 1, 2))
    text = workflow_commands([found])
    assert text.count("\n") == 1
    command, properties, _ = read(text[:-1])
    assert command == "error"
    assert properties["file"] == visible(file or "f")


@pytest.mark.parametrize(
    ("errors", "warnings", "notes", "more"),
    [(10, 10, 10, None), (11, 0, 0, "1 more"), (12, 13, 11, "6 more"), (0, 500, 0, "490 more")],
)
def test_annotations_hidden_by_github_are_counted(errors, warnings, notes, more):
    found = [diagnostic(n) for n in range(errors)]
    found += [diagnostic(n, severity="warning") for n in range(warnings)]
    found += [diagnostic(n, severity="note") for n in range(notes)]
    lines = workflow_commands(found).splitlines()
    assert len(lines) == errors + warnings + notes + (more is not None)
    assert (lines[-1].startswith(f"::notice title=smspec::{more}")) == (more is not None)


def test_validate_prints_annotations(tmp_path):
    (tmp_path / "job.yaml").write_text(READY + "nme: x\n")
    done = smspec("validate", "--format", "github", cwd=tmp_path)
    assert done.status == 1
    assert done.out.startswith("::error file=job.yaml,line=7,endLine=7,col=1,endColumn=4,title=SM204::unknown key")
