"""Edge cases of each view and its errors."""

import io
import struct
import sys
import tarfile

import pytest

from smspec_runtime.pipe import Corrupt, Truncated, example
from smspec_runtime.pipe.views import VIEWS
from support.pipe import pipe_formats as formats
from support.pipe.piecewise_source import outcome, reader_of

ONE = formats.recordio(b"one")
LARGE = formats.pattern(300_000)


def refused(view, data, kind, offset, words, before=(), **options):
    """Assert that a view gives the items of ``before``, then an error of ``kind`` at ``offset`` with these words."""
    for sizes in [(1 << 30,), (7,)]:
        got, error = outcome(VIEWS[view](reader_of(data, sizes), **options))
        assert got == list(before)
        assert type(error) is kind
        assert error.offset == offset
        assert str(error).startswith(f"channel `train`, epoch 3, byte {offset}: ")
        assert words in str(error)


def test_registry_contains_every_view_of_the_spec():
    text = {"lines", "jsonlines", "csv"}
    assert set(VIEWS) == text | {"chunks", "recordio", "recordio_protobuf", "augmented", "tfrecord", "tar"}


class TestRecordIO:
    def test_wrong_magic_number_is_an_error(self):
        refused("recordio", ONE * 2 + b"????" + ONE, Corrupt, 24, "here is 3f3f3f3f", [b"one"] * 2)

    def test_cut_payload_is_reported(self):
        refused("recordio", ONE + ONE[:10], Truncated, 12, "after 10 bytes", [b"one"])

    def test_cut_padding_is_reported(self):
        refused("recordio", ONE + ONE[:11], Truncated, 12, "after 11 bytes", [b"one"])

    def test_cut_header_is_reported(self):
        refused("recordio", ONE + ONE[:5], Truncated, 12, "after 5 bytes", [b"one"])

    def test_large_cut_record_is_reported(self):
        cut = formats.recordio(LARGE)[:-9]
        refused("recordio", ONE + cut, Truncated, 12, "after 299999 of 300008 bytes", [b"one"])

    def test_parts_are_joined_with_the_omitted_magic_number(self):
        payload = b"head" + formats.MAGIC + formats.MAGIC + b"tail!"
        assert len(formats.recordio(payload)) == 8 + 4 + 8 + 8 + 8  # three parts, the middle one empty
        assert list(VIEWS["recordio"](reader_of(formats.recordio(payload), (3,)))) == [payload]

    def test_parts_may_be_joined_without_the_magic_number(self):
        data = formats.recordio_part(1, b"ab") + formats.recordio_part(2, b"cd") + formats.recordio_part(3, b"e")
        assert list(VIEWS["recordio"](reader_of(data), multipart="concat")) == [b"abcde"]

    def test_large_parts_are_joined(self):
        data = formats.recordio_part(1, LARGE) + formats.recordio_part(3, LARGE)
        assert list(VIEWS["recordio"](reader_of(data, (100_000,)))) == [LARGE + formats.MAGIC + LARGE]

    def test_record_ending_between_its_parts_is_reported(self):
        refused("recordio", ONE + formats.recordio_part(1, b"ab"), Truncated, 12, "after 1 of its parts", [b"one"])

    @pytest.mark.parametrize("flags", [[2], [3], [1, 0], [1, 1], [1, 2, 0], [4], [7]])
    def test_unordered_parts_are_rejected(self, flags):
        data = b"".join(formats.recordio_part(flag, b"part") for flag in flags)
        refused("recordio", data, Corrupt, 12 * (len(flags) - 1), f"part {flags[-1]} of a record")

    def test_unknown_multipart_mode_is_rejected(self):
        with pytest.raises(ValueError, match="dmlc or concat"):
            VIEWS["recordio"](reader_of(b""), multipart="dlmc")

    def test_empty_payloads_are_records(self):
        assert list(VIEWS["recordio"](reader_of(formats.recordio(b"") * 3))) == [b""] * 3


class TestTFRecord:
    def test_wrong_length_is_detected(self):
        bad = bytearray(formats.tfrecord(b"two"))
        bad[1] ^= 1
        refused("tfrecord", formats.tfrecord(b"one") + bad, Corrupt, 19, "checksum of the length", [b"one"])

    def test_wrong_payload_is_detected_on_request(self):
        bad = bytearray(formats.tfrecord(b"two"))
        bad[12] ^= 1
        data = formats.tfrecord(b"one") + bytes(bad)
        refused("tfrecord", data, Corrupt, 19, "checksum of a record", [b"one"], crc=True)
        assert list(VIEWS["tfrecord"](reader_of(data))) == [b"one", b"uwo"]

    def test_cut_checksum_is_reported(self):
        refused("tfrecord", formats.tfrecord(b"one")[:-1], Truncated, 0, "after 18 bytes")
        refused("tfrecord", formats.tfrecord(LARGE)[:-1], Truncated, 0, "after 300015 of 300016 bytes")

    def test_checksum_equals_the_published_one(self):
        """CRC-32C of 32 zero bytes is 8a9136aa (RFC 3720, B.4)."""
        crc = 0x8A9136AA
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        assert formats.tfrecord(bytes(32))[-4:] == struct.pack("<I", masked)


class TestTar:
    def test_only_regular_files_are_members(self):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as archive:
            for name, kind in [("d", tarfile.DIRTYPE), ("s", tarfile.SYMTYPE), ("f", tarfile.FIFOTYPE)]:
                info = tarfile.TarInfo(name)
                info.type = kind
                info.linkname = "x" * 150
                archive.addfile(info)
            info = tarfile.TarInfo("a")
            info.size = 1
            archive.addfile(info, io.BytesIO(b"A"))
        assert list(VIEWS["tar"](reader_of(file.getvalue()))) == [("a", b"A")]

    def test_archive_without_its_end_marker_is_cut(self):
        data = formats.tar([("a", b"A")])[:1024]
        refused("tar", data, Truncated, 0, "end marker is missing", [("a", b"A")])

    def test_damaged_header_is_rejected(self):
        data = bytearray(formats.tar([("a", b"A"), ("b", b"B")]))
        data[1024] ^= 1
        refused("tar", bytes(data), Corrupt, 1024, "checksum", [("a", b"A")])

    def test_large_cut_member_is_reported(self):
        data = formats.tar([("a", b"A"), ("b", LARGE)])[:200_000]
        refused("tar", data, Truncated, 1024, "after 198976 of 300544 bytes", [("a", b"A")])

    def test_old_and_ustar_archives_are_read(self):
        name = "d" * 120 + "/" + "n" * 90
        assert list(VIEWS["tar"](reader_of(formats.tar([(name, b"A")], tarfile.USTAR_FORMAT)))) == [(name, b"A")]

    def test_size_in_base_256_is_read(self):
        head = bytearray(formats.tar([("a", b"A")])[:512])
        head[124:136] = b"\x80" + (3).to_bytes(11, "big")
        head[148:156] = b"%06o\0 " % (sum(head[:148]) + sum(head[156:]) + 8 * 32)
        data = bytes(head) + b"abc" + bytes(509) + bytes(1024)
        assert list(VIEWS["tar"](reader_of(data))) == [("a", b"abc")]

    def test_sparse_member_is_rejected(self):
        head = bytearray(formats.tar([("a", b"")])[:512])
        head[156:157] = b"S"
        head[148:156] = b"%06o\0 " % (sum(head[:148]) + sum(head[156:]) + 8 * 32)
        refused("tar", bytes(head) + bytes(1024), Corrupt, 0, "`a` is sparse")

    def test_sparse_pax_member_is_rejected(self):
        """Its header declares a regular file that contains a map and the data."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            info = tarfile.TarInfo("a")
            info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.realsize": "9"}
            archive.addfile(info)
        refused("tar", buffer.getvalue(), Corrupt, 1024, "`a` is sparse")


class TestText:
    def test_long_line_is_read(self):
        line = LARGE.replace(b"\n", b"") * 4 + b"\n"
        assert list(VIEWS["lines"](reader_of(b"a\n" + line + b"b", (100_000,)))) == [b"a\n", line, b"b"]

    def test_json_error_names_the_line(self):
        refused("jsonlines", b'{"a": 1}\n\n[2}\n3\n', Corrupt, 10, "not JSON", [{"a": 1}])

    def test_json_cut_in_the_last_line_is_reported(self):
        refused("jsonlines", b'{"a": 1}\n{"a"', Truncated, 9, "ends inside a line", [{"a": 1}])

    def test_undecodable_json_is_reported(self):
        refused("jsonlines", b'1\n"\xff"\n', Corrupt, 2, "not JSON", [1])

    def test_rows_contain_line_breaks_and_skip_empty_lines(self):
        data = b'a,"b\nc"\r\n\r\n"d ""e""",f'
        assert list(VIEWS["csv"](reader_of(data, (3,)))) == [["a", "b\nc"], ['d "e"', "f"]]

    def test_delimiter_can_be_set(self):
        assert list(VIEWS["csv"](reader_of(b"a\tb\n"), delimiter="\t")) == [["a", "b"]]

    def test_row_cut_in_quotes_is_reported(self):
        refused("csv", b'a,b\nc,"d\ne', Truncated, 4, "ends inside a row", [["a", "b"]])

    def test_malformed_row_is_reported(self):
        refused("csv", b'a,b\n"c"d,e\n', Corrupt, 4, "not CSV", [["a", "b"]])

    def test_undecodable_row_is_reported(self):
        refused("csv", b"a,b\nc,\xff\n", Corrupt, 4, "not CSV", [["a", "b"]])


class TestAugmented:
    def test_names_are_required(self):
        with pytest.raises(ValueError, match="AttributeNames"):
            VIEWS["augmented"](reader_of(b""))

    def test_objects_of_many_parts_are_paired(self):
        image = b"\xff\xd8" + bytes(2) + formats.MAGIC + LARGE
        data = b"".join(map(formats.recordio, [image, b"1", LARGE, b"0"]))
        got = list(VIEWS["augmented"](reader_of(data, (50_000,)), names=["image-ref", "label"]))
        assert got == [{"image-ref": image, "label": b"1"}, {"image-ref": LARGE, "label": b"0"}]

    def test_object_cut_inside_an_attribute_is_reported(self):
        data = ONE * 3 + ONE[:10]
        refused("augmented", data, Truncated, 36, "after 10 bytes", [{"a": b"one", "b": b"one"}], names=["a", "b"])


class TestProtobuf:
    def read(self, *messages):
        return list(VIEWS["recordio_protobuf"](reader_of(b"".join(map(formats.recordio, messages)))))

    def test_record_has_all_members(self):
        message = formats.record(
            {"values": formats.tensor("f", [0.5, -2.0])}, {"values": formats.tensor("f", [1.0])}, "u", "m", "c"
        )
        (record,) = self.read(message)
        assert list(record.features["values"].values) == [0.5, -2.0]
        assert list(record.label["values"].values) == [1.0]
        assert record[2:] == ("u", "m", "c")

    def test_sparse_tensors_keep_keys_and_shape(self):
        (record,) = self.read(formats.record({"values": formats.tensor("d", [1.5, 2.5], [3, 70_000], [100_000])}, {}))
        tensor = record.features["values"]
        assert (list(tensor.values), list(tensor.keys), tensor.shape) == ([1.5, 2.5], [3, 70_000], (100_000,))

    def test_bytes_are_a_list_with_their_type(self):
        blobs = formats.field(9, formats.field(1, b"\x00\xff") + formats.field(1, b"") + formats.field(2, b"image/png"))
        (record,) = self.read(formats.record({"image": blobs}, {}))
        assert record.features["image"] == ([b"\x00\xff", b""], "image/png")

    def test_unpacked_numbers_are_read(self):
        """A parser accepts repeated numbers packed or not, and in several pieces."""
        one = formats.varint(1 << 3 | 5)
        floats = formats.field(2, one + struct.pack("<f", 1) + one + struct.pack("<f", 2))
        integers = formats.field(7, formats.varint(1 << 3) + formats.varint(-7) + formats.field(1, b"\x05"))
        (record,) = self.read(formats.record({"f": floats, "i": integers}, {}))
        assert list(record.features["f"].values) == [1.0, 2.0]
        assert list(record.features["i"].values) == [-7, 5]

    def test_unknown_fields_are_skipped(self):
        unknown = formats.field(15, b"?") + formats.varint(14 << 3) + b"\x05" + formats.varint(13 << 3 | 1) + bytes(8)
        (record,) = self.read(unknown + formats.record({"values": formats.tensor("f", [1.0])}, {}) + unknown)
        assert list(record.features["values"].values) == [1.0]

    @pytest.mark.parametrize(
        ("message", "words"),
        [
            (formats.record({"values": formats.tensor("f", [1.0])}, {})[:-1], "longer than its message"),
            (formats.record({"v": formats.tensor("f", [1.0], [1, 2])}, {}), "2 keys and 1 values"),
            (formats.record({"v": formats.field(2, formats.field(1, b"abc"))}, {}), "multiple"),
            (formats.record({"v": formats.field(2, formats.varint(1 << 3 | 1) + bytes(8))}, {}), "wrong kind"),
            (b"\x08\x01", "field 1 is of the wrong kind"),
            (b"\x0b", "unknown kind 3"),
            (b"\xff" * 11, "longer than 10 bytes"),
            (b"\x80", "does not end"),
        ],
        ids=[
            "cut",
            "fewer values than keys",
            "several",
            "wrong kind",
            "wrong field",
            "unknown kind",
            "long number",
            "no end",
        ],
    )
    def test_damaged_messages_are_rejected(self, message, words):
        good = formats.record({}, {})
        data = formats.recordio(good) + formats.recordio(message)
        got, error = outcome(VIEWS["recordio_protobuf"](reader_of(data)))
        assert len(got) == 1
        assert type(error) is Corrupt
        assert error.offset == 8
        assert words in str(error)

    def test_numbers_are_numpy_arrays_with_numpy(self):
        numpy = pytest.importorskip("numpy")
        (record,) = self.read(formats.record({"values": formats.tensor("i", [1, -1], [5, 6])}, {}))
        tensor = record.features["values"]
        assert tensor.values.dtype == numpy.dtype("<i4")
        assert tensor.keys.dtype == numpy.dtype("<u8")
        assert tensor.values.tolist() == [1, -1]

    def test_numbers_are_arrays_without_numpy(self, monkeypatch):
        example.numpy.cache_clear()
        monkeypatch.setitem(sys.modules, "numpy", None)
        try:
            (record,) = self.read(
                formats.record({"values": formats.tensor("d", [1.5])}, {"v": formats.tensor("i", [2])})
            )
        finally:
            example.numpy.cache_clear()
        assert (record.features["values"].values.typecode, record.label["v"].values.typecode) == ("d", "i")
