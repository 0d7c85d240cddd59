"""A cut inside a record is one that a reader notices; of other data there is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.rehearsal.record_cut import record_cut
from smspec_runtime.pipe import PipeError
from smspec_runtime.pipe.views import VIEWS
from support.pipe import pipe_formats as formats
from support.pipe.piecewise_source import outcome, reader_of

PAYLOADS = st.lists(st.binary(min_size=1, max_size=300), min_size=3, max_size=20)
VALUES = st.lists(st.dictionaries(st.text(), st.integers() | st.text(), max_size=3), min_size=1, max_size=20)
ROWS = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(st.integers().map(str), min_size=width, max_size=width), min_size=1, max_size=20)
)


def cut_is_noticed(view: str, data: bytes, declared: str) -> int:
    """Assert that the reader accepts the data, and not the part before the cut; return how many items that has."""
    whole, fault = outcome(VIEWS[view](reader_of(data, (1 << 30,))))
    assert fault is None
    cut = record_cut(data, True, declared)
    assert cut is not None and 0 < cut.size < len(data)
    part, fault = outcome(VIEWS[view](reader_of(data[: cut.size], (1 << 30,))))
    assert isinstance(fault, PipeError)
    assert part == whole[: len(part)] and len(part) < len(whole)
    return len(part)


@given(PAYLOADS)
def test_cut_recordio_stream_fails_its_reader(payloads):
    cut_is_noticed("recordio", b"".join(map(formats.recordio, payloads)), "")


@pytest.mark.parametrize("declared", ["", "application/x-tfrecord", "tfrecord"])
@given(PAYLOADS)
def test_cut_tfrecord_stream_fails_its_reader(declared, payloads):
    cut_is_noticed("tfrecord", b"".join(map(formats.tfrecord, payloads)), declared)


@given(VALUES)
def test_cut_line_of_json_fails_its_reader(values):
    cut_is_noticed("jsonlines", "".join(f"{json.dumps(value)}\n" for value in values).encode(), "application/jsonlines")


@given(ROWS)
def test_cut_csv_row_has_one_field(rows):
    data = "".join(",".join(row) + "\n" for row in rows).encode()
    cut = record_cut(data, True, "text/csv; label_size=1")
    assert cut is not None
    *before, last = data[: cut.size].split(b"\n")
    assert last and b"," not in last
    assert b"\n".join([*before, b""]) == data[: cut.size - len(last)]


def test_cut_is_near_the_middle():
    data = formats.recordio(b"x" * 100) * 100
    cut = record_cut(data, True, "")
    assert cut is not None and abs(cut.size - len(data) // 2) <= 108


def test_start_of_a_longer_stream_is_enough():
    data = formats.recordio(b"x" * 1000) * 100
    cut = record_cut(data[:5000], False, "")
    assert cut is not None and cut.size < 5000


@given(st.binary(max_size=2000), st.booleans(), st.sampled_from(["", "image/jpeg", "text/plain"]))
def test_other_data_has_no_cut(data, is_whole, declared):
    assert record_cut(data, is_whole, declared) is None


@pytest.mark.parametrize(
    ("data", "declared"),
    [
        (b"1\n2\n3\n", "text/csv"),
        (b'1,"a, b"\n2,c\n', "text/csv"),
        (b"1,2\n3\n", "text/csv"),
        (b'1\n"text"\n', "application/jsonlines"),
        (b'{"a": 1}\n{"a": 2}\n', "text/plain"),
        (b"", "text/csv"),
    ],
    ids=["one column", "quotes", "rows that differ", "values that can be cut", "undeclared", "nothing"],
)
def test_data_without_a_fair_cut_has_none(data, declared):
    assert record_cut(data, True, declared) is None
