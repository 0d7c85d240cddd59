"""Views read what writers wrote, with any read sizes; cuts are reported."""

import csv
import io
import json
import struct
import tarfile
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec_runtime.pipe import Corrupt, Truncated
from smspec_runtime.pipe.reader import CHUNK
from smspec_runtime.pipe.views import VIEWS
from support.pipe import pipe_formats as formats
from support.pipe.piecewise_source import outcome, reader_of

SIZES = st.lists(st.integers(1, 9000), min_size=1, max_size=6)
PAYLOAD = st.one_of(
    st.binary(max_size=40),
    st.integers(0, 12000).map(formats.pattern),
    st.lists(st.sampled_from([formats.MAGIC, b"x", b"four", bytes(7)]), max_size=9).map(b"".join),
)
PAYLOADS = st.lists(PAYLOAD, max_size=12)
FRAMED = {"recordio": formats.recordio, "tfrecord": formats.tfrecord}
relaxed = settings(max_examples=60)


@pytest.mark.parametrize("view", FRAMED)
@relaxed
@given(payloads=PAYLOADS, sizes=SIZES)
def test_records_round_trip(view, payloads, sizes):
    data = b"".join(map(FRAMED[view], payloads))
    assert outcome(VIEWS[view](reader_of(data, sizes))) == (payloads, None)


@pytest.mark.parametrize("sizes", [(1 << 30,), (CHUNK, CHUNK, 5000, CHUNK)])
@pytest.mark.parametrize("view", FRAMED)
def test_records_survive_further_chunks(view, sizes):
    """Chunks take each other's place; runs of one size and records that begin in one chunk and end in the next."""
    lengths = [100] * 1500 + [10_001] * 60 + [3, 0, 20_000, 16_380, 300_000] * 2 + [1000] * 300
    payloads = [formats.pattern(length + number % 2) for number, length in enumerate(sorted(lengths, key=str))]
    payloads += map(formats.pattern, lengths)
    data = b"".join(map(FRAMED[view], payloads))
    assert outcome(VIEWS[view](reader_of(data, sizes))) == (payloads, None)


@relaxed
@given(payloads=PAYLOADS)
def test_tfrecord_checks_payloads_on_request(payloads):
    data = b"".join(map(formats.tfrecord, payloads))
    assert outcome(VIEWS["tfrecord"](reader_of(data), crc=True)) == (payloads, None)


@pytest.mark.parametrize("view", FRAMED)
@relaxed
@given(payloads=st.lists(PAYLOAD, min_size=1, max_size=6), sizes=SIZES, data=st.data())
def test_cut_record_is_reported_after_earlier_records(view, payloads, sizes, data):
    records = list(map(FRAMED[view], payloads))
    stream = b"".join(records)
    cut = data.draw(st.integers(0, len(stream) - 1))
    starts = [sum(map(len, records[:i])) for i in range(len(records) + 1)]
    whole = max(i for i, start in enumerate(starts) if start <= cut)
    got, error = outcome(VIEWS[view](reader_of(stream[:cut], sizes)))
    assert got == payloads[:whole]
    if cut == starts[whole]:
        assert error is None
    else:
        assert isinstance(error, Truncated)
        assert (error.channel, error.epoch) == ("train", 3)
        assert starts[whole] <= error.offset < cut  # the record, or the part of it that was cut


@relaxed
@given(
    lines=st.lists(st.binary(max_size=9000).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=9),
    last=st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")),
    sizes=SIZES,
)
def test_lines_equal_those_of_a_file(lines, last, sizes):
    data = b"".join(lines) + last
    assert list(VIEWS["lines"](reader_of(data, sizes))) == list(io.BytesIO(data))


@relaxed
@given(data=st.binary(max_size=20000), sizes=SIZES)
def test_chunks_equal_the_bytes(data, sizes):
    assert b"".join(map(bytes, VIEWS["chunks"](reader_of(data, sizes)))) == data


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@relaxed
@given(values=st.lists(JSON, max_size=9), sizes=SIZES, ascii=st.booleans(), final=st.sampled_from(["\n", ""]))
def test_json_values_round_trip(values, sizes, ascii, final):
    text = "\n".join(json.dumps(value, ensure_ascii=ascii) for value in values) + final
    data = text.encode("utf-8", "surrogatepass") if ascii else text.encode("utf-8", "replace")
    expected = [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    assert list(VIEWS["jsonlines"](reader_of(data, sizes))) == expected


CELL = st.text(alphabet=st.sampled_from('ab,"\n \u00e9\U0001f600'), max_size=6)


@relaxed
@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=4), max_size=9), sizes=SIZES)
def test_rows_round_trip(rows, sizes):
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    assert list(VIEWS["csv"](reader_of(file.getvalue().encode(), sizes))) == rows


NAME = st.text(alphabet=st.sampled_from("abc/\u00e9."), min_size=1, max_size=300).filter(
    lambda name: not name.endswith("/") and not name.startswith("/")
)


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT], ids=["pax", "gnu"])
@relaxed
@given(archives=st.lists(st.lists(st.tuples(NAME, PAYLOAD), max_size=4), max_size=3), sizes=SIZES)
def test_members_of_consecutive_archives_round_trip(format, archives, sizes):
    data = b"".join(formats.tar(members, format) for members in archives)
    assert list(VIEWS["tar"](reader_of(data, sizes))) == [member for members in archives for member in members]


@relaxed
@given(members=st.lists(st.tuples(NAME, PAYLOAD), min_size=1, max_size=4), data=st.data())
def test_truncated_archive_is_reported(members, data):
    archive = formats.tar(members)
    last = tarfile.open(fileobj=io.BytesIO(archive)).getmembers()[-1]
    cut = data.draw(st.integers(1, last.offset_data + (last.size + 511) // 512 * 512))
    got, error = outcome(VIEWS["tar"](reader_of(archive[:cut])))
    assert isinstance(error, Truncated)
    assert [tuple(member) for member in got] == members[: len(got)]


KINDS = {
    "f": st.floats(width=32, allow_nan=False),
    "d": st.floats(allow_nan=False),
    "i": st.integers(-(2**31), 2**31 - 1),
}
TENSOR = st.sampled_from(sorted(KINDS)).flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        st.lists(KINDS[kind], max_size=12),
        st.booleans(),
        st.lists(st.integers(0, 2**40), max_size=3),
    )
)
TENSORS = st.dictionaries(st.text(max_size=5), TENSOR, max_size=3)


def encoded(tensors):
    return {
        name: formats.tensor(kind, values, range(100, 100 + len(values)) if sparse else None, shape)
        for name, (kind, values, sparse, shape) in tensors.items()
    }


def decoded(tensors):
    """What tensors look like after the trip, as plain lists."""
    return {
        name: (values, list(range(100, 100 + len(values))) if sparse else None, tuple(shape))
        for name, (_, values, sparse, shape) in tensors.items()
    }


def plain(tensors):
    return {
        name: (list(tensor.values), None if tensor.keys is None else list(tensor.keys), tensor.shape)
        for name, tensor in tensors.items()
    }


@relaxed
@given(
    examples=st.lists(st.tuples(TENSORS, TENSORS, st.none() | st.text(max_size=5)), max_size=4),
    sizes=SIZES,
)
def test_protobuf_records_round_trip(examples, sizes):
    payloads = [formats.record(encoded(features), encoded(label), uid=uid) for features, label, uid in examples]
    got = list(VIEWS["recordio_protobuf"](reader_of(b"".join(map(formats.recordio, payloads)), sizes)))
    assert [(plain(r.features), plain(r.label), r.uid) for r in got] == [
        (decoded(features), decoded(label), uid) for features, label, uid in examples
    ]


@relaxed
@given(payload=st.binary(max_size=60))
def test_protobuf_survives_any_bytes(payload):
    """Corrupt or a record, never another error."""
    got, error = outcome(VIEWS["recordio_protobuf"](reader_of(formats.recordio(payload))))
    assert (len(got) == 1 and error is None) or isinstance(error, Corrupt)


@relaxed
@given(objects=st.lists(st.tuples(PAYLOAD, PAYLOAD, PAYLOAD), max_size=6), sizes=SIZES, missing=st.integers(0, 2))
def test_attributes_are_paired(objects, sizes, missing):
    names = ["image-ref", "boxes", "weight"]
    records = [formats.recordio(value) for values in objects for value in values]
    expected = [dict(zip(names, values, strict=True)) for values in objects]
    if missing and records:
        records, expected = records[:-missing], expected[:-1]
    got, error = outcome(VIEWS["augmented"](reader_of(b"".join(records), sizes), names=names))
    assert got == expected
    if missing and objects:
        assert isinstance(error, Truncated)
        assert error.offset == sum(map(len, records[: 3 * len(expected)]))
        assert f"`{names[3 - missing]}` is missing" in str(error)
    else:
        assert error is None


@pytest.mark.parametrize("view", ["recordio", "recordio_protobuf", "tfrecord", "tar", "jsonlines", "csv", "augmented"])
@relaxed
@given(data=st.binary(max_size=3000), sizes=SIZES)
def test_garbage_is_read_or_rejected(view, data, sizes):
    options = {"names": ["a", "b"]} if view == "augmented" else {}
    _, error = outcome(VIEWS[view](reader_of(data, sizes), **options))
    assert error is None or 0 <= error.offset <= len(data)


def test_floats_are_little_endian_on_the_wire():
    message = formats.record({"values": formats.field(2, formats.field(1, bytes.fromhex("0000803f")))}, {})
    (record,) = VIEWS["recordio_protobuf"](reader_of(formats.recordio(message)))
    assert list(record.features["values"].values) == [1.0] == list(array("f", struct.pack("=f", 1.0)))
