"""Batches of the items of a view; dense records become arrays, with or without numpy."""

import sys
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec_runtime.pipe import Corrupt, Truncated, example
from smspec_runtime.pipe import open as open_stream
from smspec_runtime.pipe.views import VIEWS
from support.pipe import pipe_formats as formats
from support.pipe.piecewise_source import outcome, reader_of

SIZES = st.lists(st.integers(1, 3000), min_size=1, max_size=5)
relaxed = settings(max_examples=80)


@pytest.fixture(params=["numpy", "stdlib"])
def numbers(request, monkeypatch):
    """Read with numpy, then as where it is not installed."""
    if request.param == "numpy":
        pytest.importorskip("numpy")
    else:
        monkeypatch.setitem(sys.modules, "numpy", None)
    example.numpy.cache_clear()
    yield request.param
    example.numpy.cache_clear()


def without_numpy(call):
    """Call as where numpy is not installed."""
    kept = sys.modules.get("numpy")
    sys.modules["numpy"] = None
    example.numpy.cache_clear()
    try:
        return call()
    finally:
        del sys.modules["numpy"]
        if kept is not None:
            sys.modules["numpy"] = kept
        example.numpy.cache_clear()


def plain(record):
    """A record as lists and tuples, floats by their spelling."""
    maps = []
    for tensors in record[:2]:
        maps.append(
            {
                name: value
                if isinstance(value, example.Blobs)
                else (list(map(repr, value.values.tolist())), value.keys and value.keys.tolist(), value.shape)
                if value.keys is None
                else (list(map(repr, value.values.tolist())), value.keys.tolist(), value.shape)
                for name, value in tensors.items()
            }
        )
    return (*maps, *record[2:])


def rows_of(tensor):
    """The numbers of each record in a tensor of all."""
    count = tensor.shape[0]
    values = tensor.values if isinstance(tensor.values, array) else tensor.values.reshape(-1)
    width = len(values) // count
    return [values[i * width : (i + 1) * width].tolist() for i in range(count)]


FLOATS = st.floats(width=32, allow_nan=False)
LABELS = st.one_of(st.integers(0, 3), st.integers(-(2**31), 2**31 - 1))


def dense(features, label, kind="f", label_kind="f", uid=None):
    return formats.record(
        {"values": formats.tensor(kind, features)}, {"values": formats.tensor(label_kind, [label])}, uid=uid
    )


MESSAGES = st.one_of(
    st.builds(dense, st.lists(FLOATS, min_size=3, max_size=3), FLOATS),
    st.builds(dense, st.lists(FLOATS, min_size=3, max_size=3), LABELS, label_kind=st.just("i")),
    st.builds(dense, st.lists(FLOATS, max_size=4), FLOATS, uid=st.sampled_from([None, "a", "b"])),
    st.builds(dense, st.lists(LABELS, max_size=3), FLOATS, kind=st.just("i")),
    st.builds(dense, st.lists(FLOATS, max_size=3), FLOATS, kind=st.just("d")),
    st.just(formats.record({"v": formats.tensor("f", [1.0], [7], [9])}, {})),
    st.just(formats.record({"v": formats.field(9, formats.field(1, b"png"))}, {}, metadata="m")),
)
STREAM = st.lists(st.tuples(MESSAGES, st.integers(1, 90)), max_size=6).map(
    lambda runs: [message for message, count in runs for _ in range(count)]
)


def records(data, sizes=(1 << 30,)):
    return [plain(record) for record in VIEWS["recordio_protobuf"](reader_of(data, sizes))]


def in_batches(data, size, sizes=(1 << 30,)):
    return list(VIEWS["recordio_protobuf"](reader_of(data, sizes), batch=size))


@relaxed
@given(messages=STREAM, size=st.integers(1, 100), sizes=SIZES)
def test_records_are_equal_in_batches_and_alone(messages, size, sizes):
    data = b"".join(map(formats.recordio, messages))
    alone = [plain(record) for message in messages for record in [example.decode_record(message)[0]]]
    assert records(data) == records(data, sizes) == alone
    batches = in_batches(data, size, sizes)
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    assert [plain(record) for batch in batches for record in batch] == alone
    assert without_numpy(lambda: records(data, sizes)) == alone
    assert (
        without_numpy(lambda: [plain(record) for batch in in_batches(data, size, sizes) for record in batch]) == alone
    )


@relaxed
@given(
    rows=st.lists(st.tuples(st.lists(FLOATS, min_size=4, max_size=4), LABELS), min_size=1, max_size=200),
    size=st.integers(1, 70),
    sizes=SIZES,
    float_label=st.booleans(),
)
def test_batch_arrays_equal_its_records(rows, size, sizes, float_label):
    kind = "f" if float_label else "i"
    rows = [(features, label % 1000 if float_label else label) for features, label in rows]
    data = b"".join(formats.recordio(dense(features, label, label_kind=kind)) for features, label in rows)
    for found in (
        in_batches(data, size, sizes),
        without_numpy(lambda: [(batch.features, batch.label) for batch in in_batches(data, size, sizes)]),
    ):
        pairs = [pair if isinstance(pair, tuple) else (pair.features, pair.label) for pair in found]
        assert [row for features, _ in pairs for row in rows_of(features["values"])] == [row for row, _ in rows]
        assert [row for _, labels in pairs for row in rows_of(labels["values"])] == [[label] for _, label in rows]


def test_batch_stacks_numbers(numbers):
    messages = [dense([i, i + 0.5], i, label_kind="i") for i in range(300)]  # labels of one byte and of two
    (batch,) = in_batches(b"".join(map(formats.recordio, messages)), 1000)
    features, label = batch.features["values"], batch.label["values"]
    assert (features.shape, label.shape, len(batch)) == ((300, 2), (300, 1), 300)
    if numbers == "numpy":
        assert (features.values.shape, str(features.values.dtype)) == ((300, 2), "float32")
        assert (label.values.shape, str(label.values.dtype)) == ((300, 1), "int32")
    else:
        assert (features.values.typecode, label.values.typecode) == ("f", "i")
    assert rows_of(features)[299] == [299.0, 299.5]
    assert rows_of(label) == [[i] for i in range(300)]
    assert batch[7].label["values"].values.tolist() == [7]


def test_shape_is_kept(numbers):
    image = formats.record({"values": formats.tensor("f", range(6), shape=(2, 3))}, {})
    (batch,) = in_batches(formats.recordio(image) * 3, 9)
    assert batch.features["values"].shape == (3, 2, 3)
    assert batch.label == {}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (dense([1, 2], 1), "differ in `values`"),
        (dense([1, 2, 3], 1, kind="d"), "differ in `values`"),
        (formats.record({"values": formats.tensor("f", [1], [2])}, {}), "not dense"),
        (formats.record({"more": formats.tensor("f", [1, 2, 3])}, {}), "differ in"),
        (formats.record({}, {}), "not dense"),
    ],
    ids=["shorter", "other kind", "sparse", "more keys", "no keys"],
)
def test_batch_of_differing_records_has_no_arrays(other, words, numbers):
    (batch,) = in_batches(formats.recordio(dense([1, 2, 3], 1)) * 2 + formats.recordio(other), 9)
    assert len(list(batch)) == 3
    with pytest.raises(ValueError, match=words):
        batch.features  # noqa: B018


def test_records_before_a_fault_are_a_batch(numbers):
    good = formats.recordio(dense([1], 1))
    for end, kind in [(good[:-1], Truncated), (b"?" * 40, Corrupt), (formats.recordio(b"\xff"), Corrupt)]:
        got, error = outcome(VIEWS["recordio_protobuf"](reader_of(good * 5 + end, (60,)), batch=3))
        assert list(map(len, got)) == [3, 2]
        assert (type(error), error.offset) == (kind, 5 * len(good))


DATA = {
    "lines": b"1\n" * 7,
    "jsonlines": b"1\n" * 7,
    "csv": b"1,2\n" * 7,
    "recordio": formats.recordio(b"x") * 7,
    "tfrecord": formats.tfrecord(b"x") * 7,
    "tar": formats.tar([(str(i), b"x") for i in range(7)]),
    "augmented": formats.recordio(b"x") * 7,
    "recordio_protobuf": formats.recordio(dense([1], 1)) * 7,
}


@pytest.mark.parametrize("view", DATA)
def test_each_view_reads_batches(view, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DATA[view])
    stream = open_stream(str(path), read=view, attributes=["name"])
    assert [len(batch) for batch in stream.batches(3)] == [3, 3, 1]
    assert stream.stats.records == 7 or view in ("lines", "jsonlines", "csv")


@pytest.mark.parametrize("view", ["recordio", "tfrecord", "recordio_protobuf"])
def test_cut_stream_yields_its_last_batch_first(view, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DATA[view][:-1])
    got, error = outcome(open_stream(str(path), read=view).batches(4))
    assert list(map(len, got)) == [4, 2]
    assert isinstance(error, Truncated)


def test_batches_and_records_cannot_be_mixed(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DATA["recordio_protobuf"])
    stream = open_stream(str(path), read="recordio_protobuf")
    next(stream.batches(2))
    with pytest.raises(ValueError, match="in batches"):
        next(iter(stream))


def test_closing_ends_the_next_batch(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DATA["recordio_protobuf"] * 100)
    stream = open_stream(str(path), read="recordio_protobuf")
    batches = stream.batches(10)
    assert len(next(batches)) == 10
    stream.close()
    assert list(batches) == []


def test_repeated_name_has_its_last_value(numbers):
    one, two = (formats.record({"a": formats.tensor("f", [n])}, {}) for n in (1, 2))
    blob = formats.record({"b": formats.field(9, formats.field(1, b"png"))}, {})
    for message in (one + two, one + two + blob):
        for batch in in_batches(formats.recordio(message) * 3, 3):
            assert [record.features["a"].values.tolist() for record in batch] == [[2.0]] * 3
            assert [len(record.features) for record in batch] == [1 + (blob in message)] * 3
