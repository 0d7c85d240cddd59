"""The values in the files of models; no file is trusted."""

from __future__ import annotations

import bz2
import collections
import gzip
import io
import json
import lzma
import pickle
import struct
import tarfile
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.rehearsal.values import decode, pickle_values
from smspec.rehearsal.values.leaf import Array, described, same


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def safetensors(name: str, kind: str, shape: list[int], data: bytes) -> bytes:
    header = json.dumps({name: {"dtype": kind, "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    return struct.pack("<Q", len(header)) + header + data


def numbers(data: bytes, path: str) -> list[float]:
    leaf = decode(data)[path]
    assert isinstance(leaf, Array)
    return [*leaf.numbers()]


def test_json_values_have_paths():
    assert decode(b'{"a": [1, {"b": null}], "c": []}') == {"a[0]": 1, "a[1].b": None, "c[]": None}
    assert decode(b'{"loss": 1}\n{"loss": 2}\n') == {"[0].loss": 1, "[1].loss": 2}


def test_tables_and_texts_are_read():
    assert decode(b"epoch,loss\n1,0.5\n2,0.25\n")["loss[1]"] == 0.25
    assert decode(b"weights\nbias 0.5\n") == {"line[0]": "weights", "line[1]": "bias #", "line[1].number[0]": 0.5}


def test_files_of_a_tar_archive_are_read():
    """Not their times, and no logs."""

    def archive(time: int, log: bytes) -> bytes:
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as tar:
            for name, content in (("./model/w.json", b'{"w": 0.5}'), ("model/train.log", log), ("blob", b"\0\xff")):
                member = tarfile.TarInfo(name)
                member.size, member.mtime = len(content), time
                tar.addfile(member, io.BytesIO(content))
            link = tarfile.TarInfo("latest")
            link.type, link.linkname = tarfile.SYMTYPE, "model"
            tar.addfile(link)
        return file.getvalue()

    expected = {"model/w.json:w": 0.5, "blob": "00ff", "latest": "model"}
    assert decode(archive(1, b"resumed")) == decode(gzip.compress(archive(2, b""))) == expected


@given(st.data())
def test_broken_tar_archive_has_no_values_or_some(data):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        member = tarfile.TarInfo("a.json")
        member.size = 2
        tar.addfile(member, io.BytesIO(b"{}"))
    content = bytearray(file.getvalue())
    for position in data.draw(st.lists(st.integers(0, 600), max_size=4)):
        content[position] = data.draw(st.integers(0, 255))
    decode(bytes(content[: data.draw(st.integers(0, len(content)))]))


def test_columns_without_names_are_numbered():
    assert decode(b"1,0.5\n2,0.25\n") == {"column1[0]": 1, "column2[0]": 0.5, "column1[1]": 2, "column2[1]": 0.25}


def test_arrays_of_numpy_are_read():
    weights = np.arange(6, dtype=">f4").reshape(2, 3)
    assert numbers(npz(w=weights), "w.npy") == [0, 1, 2, 3, 4, 5]
    assert numbers(npz(w=weights.astype("f2")), "w.npy") == [0, 1, 2, 3, 4, 5]
    assert numbers(pickle.dumps({"w": weights}), "w") == [0, 1, 2, 3, 4, 5]
    assert numbers(pickle.dumps(np.float64(2.5)), "") == [2.5]
    for compress in (gzip.compress, bz2.compress, lzma.compress, zlib.compress):
        assert decode(compress(npz(w=weights))) == decode(npz(w=weights))


def test_tensors_in_safetensors_are_read():
    assert numbers(safetensors("w", "F32", [2], struct.pack("<2f", 1, 2)), "w") == [1, 2]
    assert numbers(safetensors("w", "BF16", [1], b"\x80\x3f"), "w") == [1.0]


def test_pickle_is_never_executed(tmp_path):
    mark = tmp_path / "mark"

    class Trap:
        def __reduce__(self):
            return (open, (str(mark), "w"))

    assert "io.open" in repr(decode(pickle.dumps({"trap": Trap()}))) or not mark.exists()
    assert not mark.exists()


class Model:
    def __init__(self, weights: list[float]) -> None:
        self.weights = weights
        self.names = {"a": "a", "b": "a"}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_loaded_and_made_objects_have_equal_values(protocol):
    """The bytes differ, because other strings are the same object."""
    made = {"model": Model([0.1, 0.2]), "seen": {"x", "y"}, "count": collections.OrderedDict(a=1), "big": 1 << 80}
    loaded = pickle.loads(pickle.dumps(made))
    assert decode(pickle.dumps(loaded, protocol)) == decode(pickle.dumps(made, protocol))
    loaded["model"].weights[1] = 0.3
    found, expected = decode(pickle.dumps(loaded, protocol)), decode(pickle.dumps(made, protocol))
    assert [path for path in expected if found[path] != expected[path]] == ["model.weights[1]"]


def test_object_in_itself_is_read():
    """Its bytes say nothing: they depend on which objects are the same."""
    node = {"weight": 0.5}
    node["child"] = [node]
    assert decode(pickle.dumps(node)) == {"weight": 0.5, "child[0]": "itself"}


def test_unreadable_pickle_has_no_values(monkeypatch):
    monkeypatch.setattr(pickle_values, "_MOST_VALUES", 1000)
    nested: list = []
    for _ in range(40):
        nested = [nested, nested]
    assert decode(pickle.dumps(nested)) == {}
    assert decode(pickle.dumps(1.5)[:-1]) == {}


def test_arrays_of_joblib_are_read(tmp_path):
    joblib = pytest.importorskip("joblib")
    joblib.dump({"w": np.arange(3.0), "b": np.float32([7]), "name": "linear"}, tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    assert (numbers(data, "w"), numbers(data, "b"), decode(data)["name"]) == ([0, 1, 2], [7], "linear")


def torch_file(values: list[float], offset: int = 0, name: str = "archive") -> bytes:
    """Return a file as `torch.save` writes it, of one tensor with two numbers of its storage."""
    head = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n"
    head += b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"
    tail = b"K" + bytes([offset]) + b"K\x02\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR."
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}/data.pkl", head + tail)
        archive.writestr(f"{name}/data/0", struct.pack(f"<{len(values)}f", *values))
    return file.getvalue()


def test_tensors_of_torch_are_read():
    assert numbers(torch_file([1, 2]), "") == [1, 2]
    assert numbers(torch_file([9, 1, 2], offset=1), "") == [1, 2]
    assert decode(torch_file([1, 2], name="a")) == decode(torch_file([1, 2], name="b"))


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x80\x04", b"{", b"[", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x1f\x8b"]),
)
def test_junk_is_unknown_or_text(data, magic):
    found = decode(magic + data)
    assert found is None or isinstance(found, dict)


@pytest.mark.parametrize(
    "data", [pickle.dumps([[[1.5]]]), npz(w=np.ones(3)), torch_file([1, 2])], ids=["pickle", "npz", "torch"]
)
def test_cut_files_are_not_misread(data):
    whole = decode(data)
    for length in range(8, len(data) - 1):
        assert decode(data[:length]) != whole


@given(st.floats(-1e30, 1e30), st.floats(1e-9, 1e-3))
def test_tolerance_is_absolute_and_relative(value, tolerance):
    step = tolerance * max(1, abs(value))
    assert same(value, value + 0.5 * step, tolerance)
    assert not same(value, value + 2.1 * step, tolerance)
    assert same(float("nan"), float("nan"), None)


def test_difference_names_the_first_number():
    expected, found = Array("f4", (3,), struct.pack("<3f", 1, 2, 3)), Array("f4", (3,), struct.pack("<3f", 1, 5, 4))
    text = "has 5 instead of 2 at position 1: 2 of 3 numbers differ, by at most 3"
    assert described(found, expected) == text
    assert described(1, 2.5) == "is 1 instead of 2.5"
