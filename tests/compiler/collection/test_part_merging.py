"""The parts of hosts: which files they are, and what is made of them."""

import csv
import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.collection.part_merging import NpyHeader, PartFiles, merge, part_files, read_npy_header, written_npy_header
from smspec.collection.result_tree import MergeFailed


@pytest.mark.parametrize(
    ("part", "merged"),
    [
        ("part-{}.csv", "part.csv"),
        ("{}.csv", "merged.csv"),
        ("{}-part.csv", "part.csv"),
        ("{}/part.csv", "part.csv"),
        ("a/{}/part.csv", "a/part.csv"),
        ("a/part_{}", "a/part"),
        ("a/part.{}.npy", "a/part.npy"),
        ("{}", "merged"),
        ("a/part-{}-0.csv", "a/part-0.csv"),
    ],
)
def test_parts_differ_in_the_name_of_the_host(part, merged):
    paths = [part.format(f"algo-{number}") for number in (10, 2, 1, 3, 4, 5, 6, 7, 8, 9)]
    (found,) = part_files([*paths, "model.bin", "algo-x", "nalgo-1"], 10)
    assert found.merged == merged
    assert found.parts == tuple(part.format(f"algo-{number}") for number in range(1, 11))


def test_missing_part_is_an_error():
    with pytest.raises(MergeFailed, match="no part of algo-2 belongs to `p-algo-1`"):
        part_files(["p-algo-1", "p-algo-3"], 0)
    with pytest.raises(MergeFailed, match="no part of algo-3"):
        part_files(["p-algo-1", "p-algo-2"], 3)


def test_file_of_one_host_is_a_part_only_of_its_job():
    assert part_files(["log-algo-1"], 2) == ()
    assert part_files(["log-algo-1"], 1) == (PartFiles(merged="log", parts=("log-algo-1",)),)


def merged(tmp_path, how, *parts):
    paths = []
    for number, content in enumerate(parts, 1):
        paths.append(tmp_path / f"p-algo-{number}")
        paths[-1].write_bytes(content)
    group = PartFiles(merged="p", parts=tuple(path.name for path in paths))
    merge(tuple(how.split()), group, [str(path) for path in paths], str(tmp_path / "merged/p"))
    return (tmp_path / "merged/p").read_bytes()


def test_concatenated_parts_are_in_order(tmp_path):
    assert merged(tmp_path, "concat", b"1", b"", b"23") == b"123"


def test_csv_keeps_one_header(tmp_path):
    parts = [b'\xef\xbb\xbf"a\nx",b\r\n1,2\r\n', b'"a\nx",b\n3,4', b'"a\nx",b', b'"a\nx",b\n5,6\n']
    assert merged(tmp_path, "csv", *parts) == b'"a\nx",b\n1,2\r\n3,4\n5,6\n'


@pytest.mark.parametrize("other", [b"a,c\n1,2\n", b"", b"1,2\n"], ids=["other column", "empty", "no header"])
def test_csv_with_a_different_header_is_an_error(tmp_path, other):
    with pytest.raises(MergeFailed, match="`p-algo-2`"):
        merged(tmp_path, "csv", b"a,b\n1,2\n", other)


CELL = st.text('a,"\n\r ;é', max_size=5)


@given(st.lists(CELL, min_size=1, max_size=4), st.lists(st.integers(0, 3), min_size=1, max_size=4), st.data())
def test_merged_csv_has_the_rows_of_all_parts(tmp_path_factory, header, counts, data):
    row = st.lists(CELL, min_size=len(header), max_size=len(header))
    tables = [data.draw(st.lists(row, min_size=count, max_size=count)) for count in counts]

    def written(rows):
        file = io.StringIO(newline="")
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
        return file.getvalue().encode()

    whole = merged(tmp_path_factory.mktemp("csv"), "csv", *(written([header, *table]) for table in tables))
    read = list(csv.reader(io.StringIO(whole.decode(), newline="")))
    assert read == [header, *(row for table in tables for row in table)]


def npy(dtype, shape, data, *, fortran=False, version=1):
    fields = f"{{'descr': {dtype!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(fields))
    return b"\x93NUMPY" + bytes([version, 0]) + length + fields + data


def test_arrays_are_joined_along_the_first_axis(tmp_path):
    numpy = pytest.importorskip("numpy")
    arrays = [numpy.arange(count * 6, dtype="<f4").reshape(count, 2, 3) + count for count in (4, 0, 2)]
    parts = []
    for array in arrays:
        buffer = io.BytesIO()
        numpy.save(buffer, array)
        parts.append(buffer.getvalue())
    whole = numpy.load(io.BytesIO(merged(tmp_path, "npy", *parts)))
    assert whole.dtype == "<f4" and (whole == numpy.concatenate(arrays)).all()


def test_arrays_of_records_are_joined(tmp_path):
    dtype = [("id", "<i4"), ("v", "<f8", (2,)), ("name", "<U3")]
    whole = merged(tmp_path, "npy", npy(dtype, (1,), b"1" * 32, version=2), npy(dtype, (2,), b"2" * 64))
    assert whole.endswith(b"1" * 32 + b"2" * 64) and len(whole) % 64 == 96 % 64
    assert read_npy_header("p", str(tmp_path / "merged/p")).shape == (3,)


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (npy("<f8", (1, 2), bytes(16)), "dtype"),
        (npy("<f4", (1, 3), bytes(12)), "shape"),
        (npy("<f4", (1,), bytes(4)), "shape"),
        (npy("<f4", (), bytes(4)), "single value"),
        (npy("<f4", (2, 2), bytes(16), fortran=True), "Fortran order"),
        (npy("<f4", (2, 2), bytes(15)), "as many bytes"),
        (npy("|O", (1, 2), bytes(16)), "cannot merge"),
        (npy("<f4", (1, -2), b""), "damaged"),
        (npy("<f4", "__import__('os')", b""), "damaged"),
        (b"\x93NUMPY\1\0\xff\xff{     ", "damaged"),
        (b"a,b\n1,2\nsome more", "not a .npy file"),
        (b"", "not a .npy file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "part",
)
def test_array_that_does_not_fit_is_an_error(tmp_path, part, why):
    with pytest.raises(MergeFailed, match=f"`p-algo-2`.*{why}"):
        merged(tmp_path, "npy", npy("<f4", (1, 2), bytes(8)), part)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.text(max_size=4))
def test_written_header_is_read_again(tmp_path_factory, shape, name):
    path = tmp_path_factory.mktemp("npy") / "a"
    dtype = repr([(name, "|S0")])
    path.write_bytes(written := written_npy_header(NpyHeader(dtype=dtype, shape=tuple(shape), size=0)))
    assert len(written) % 64 == 0
    assert read_npy_header("a", str(path)) == NpyHeader(dtype=dtype, shape=tuple(shape), size=len(written))


def test_command_gets_the_parts(tmp_path):
    assert merged(tmp_path, "sort -r", b"1\n3\n", b"2\n") == b"3\n2\n1\n"


@pytest.mark.parametrize("command", ["false", "no-such-command-here"])
def test_command_that_fails_is_an_error(tmp_path, command):
    with pytest.raises(MergeFailed, match=f"`{command}`"):
        merged(tmp_path, command, b"1")
