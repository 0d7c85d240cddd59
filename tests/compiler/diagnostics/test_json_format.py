"""Diagnostics as JSON: one array of flat objects."""

import json

from smspec.diagnostics import Diagnostic, Note
from smspec.diagnostics.explanation import reference
from smspec.diagnostics.formats import json_records
from smspec.source import Span


def test_no_diagnostics_are_an_empty_array():
    assert json_records([]) == "[]\n"


def test_diagnostic_is_a_flat_object():
    diagnostic = Diagnostic(
        code="SM301",
        severity="warning",
        message="`a` and `b`",
        span=Span("job.yaml", 2, 3, 4, 5),
        path=("channels", "train", "attributes", 0),
        help="drop one",
        label="here",
        notes=(Note("each FIFO has one reader"), Note("first here", Span("base.yaml", 7, 1, 7, 2))),
    )
    assert json.loads(json_records([diagnostic])) == [
        {
            "code": "SM301",
            "severity": "warning",
            "message": "`a` and `b`",
            "help": "here\ndrop one",
            "note": "each FIFO has one reader\nfirst here (base.yaml:7:1)",
            "file": "job.yaml",
            "line": 2,
            "column": 3,
            "end_line": 4,
            "end_column": 5,
            "path": "channels.train.attributes[0]",
            "url": reference("SM301"),
        }
    ]


def test_label_is_part_of_the_help():
    diagnostic = Diagnostic(
        code="SM204", severity="error", message="x", span=Span("j", 1, 1, 1, 2), label="did you mean `y`?"
    )
    assert json.loads(json_records([diagnostic]))[0]["help"] == "did you mean `y`?"


def test_array_is_ascii():
    """Undecodable bytes of a file name appear as lone surrogates."""
    diagnostic = Diagnostic(code="SM204", severity="error", message="日\u2028", span=Span("\udcff.yaml", 1, 1, 1, 2))
    text = json_records([diagnostic])
    assert text.isascii()
    assert json.loads(text)[0]["file"] == "\udcff.yaml"
