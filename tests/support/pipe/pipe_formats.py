"""Writers of the formats of Pipe mode, independent of the readers."""

from __future__ import annotations

import functools
import io
import struct
import tarfile
import zlib

MAGIC = struct.pack("<I", 0xCED7230A)


def recordio(payload: bytes) -> bytes:
    """One record, as dmlc-core writes it: a payload with the magic number at a multiple of 4 goes in several parts."""
    cuts = [at for at in range(0, len(payload) - 3, 4) if payload[at : at + 4] == MAGIC]
    if not cuts:
        return recordio_part(0, payload)
    starts = [0] + [cut + 4 for cut in cuts]
    stops = [*cuts, len(payload)]
    pieces = [payload[start:stop] for start, stop in zip(starts, stops, strict=True)]
    flags = [1] + [2] * (len(pieces) - 2) + [3]
    return b"".join(recordio_part(flag, piece) for flag, piece in zip(flags, pieces, strict=True))


def recordio_part(flag: int, payload: bytes) -> bytes:
    return MAGIC + struct.pack("<I", flag << 29 | len(payload)) + payload + bytes(-len(payload) % 4)


def tfrecord(payload: bytes) -> bytes:
    """One TFRecord record."""
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


@functools.lru_cache(maxsize=1000)
def masked_crc(data: bytes) -> int:
    """CRC-32C bit by bit, then the mask of TFRecord."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def tar(members: list[tuple[str, bytes]], format: int = tarfile.PAX_FORMAT) -> bytes:
    """One archive with its end marker."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=format) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def field(number: int, content: bytes) -> bytes:
    """A length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


TENSORS = {"f": (2, "<f"), "d": (3, "<d"), "i": (7, None)}


def tensor(kind: str, values, keys=None, shape=()) -> bytes:
    """A ``Value`` that holds a tensor: kind f (float32), d (float64) or i (int32)."""
    number, layout = TENSORS[kind]
    packed = b"".join(varint(v) if layout is None else struct.pack(layout, v) for v in values)
    message = field(1, packed)
    if keys is not None:
        message += field(2, b"".join(map(varint, keys)))
    if shape:
        message += field(3, b"".join(map(varint, shape)))
    return field(number, message)


def record(features: dict[str, bytes], label: dict[str, bytes], uid=None, metadata=None, configuration=None) -> bytes:
    """A message ``Record`` of values."""
    message = b""
    for number, values in ((1, features), (2, label)):
        for key, value in values.items():
            message += field(number, field(1, key.encode()) + field(2, value))
    for number, text in ((3, uid), (4, metadata), (5, configuration)):
        if text is not None:
            message += field(number, text.encode())
    return message


def pattern(size: int) -> bytes:
    """Bytes that are the same on every run and do not repeat soon."""
    block = _block()
    return (block * (size // len(block) + 1))[:size]


@functools.lru_cache
def _block() -> bytes:
    return b"".join(struct.pack("<I", zlib.crc32(struct.pack("<I", i))) for i in range(16384))
