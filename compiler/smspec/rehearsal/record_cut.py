"""Where to cut a stream, by its first bytes, so that it ends inside a record, which a reader can notice."""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Iterator

from smspec.local.channels.channel_data import ChannelData
from smspec.local.channels.feeder_process import own_feeder
from smspec.local.feeder.plan import FeederPlan
from smspec.local.running.training_request import Host
from smspec.source.frozen import dataclass

_MAGIC = 0xCED7230A
_LENGTH = (1 << 29) - 1
_TFRECORD_HEAD, _TFRECORD_TAIL = 12, 4
_LONGEST = 1 << 30
_FEWEST = 3
"""Records of an undeclared format that must follow each other: bytes of another one may look like a length."""

_JSON_LINES = ("application/jsonlines", "application/jsonl", "application/x-jsonlines", "application/x-ndjson")

_MOST = 4 << 20
_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCut:
    """``size``: the bytes before the cut; ``form``: what the record is, for messages."""

    size: int
    form: str


def record_cut(start: bytes, is_whole: bool, declared: str) -> RecordCut | None:
    """Return a cut inside a record near the middle of some bytes, the start of a stream; None for an unknown format.

    ``is_whole``: the stream has no more bytes. ``declared``: a content type or the name of a view, or nothing.
    """
    for form, find in (
        ("a RecordIO record", _recordio),
        ("a TFRecord record", _tfrecord),
        ("a line of JSON", _json_lines),
        ("a CSV row", _csv),
    ):
        cuts = list(find(start, is_whole, declared.lower()))
        if cuts:
            return RecordCut(size=next((cut for cut in cuts if cut >= len(start) // 2), cuts[-1]), form=form)
    return None


def _recordio(start: bytes, is_whole: bool, _: str) -> Iterator[int]:
    yield from _chained(_recordio_sizes(start), start, is_whole, fewest=1)


def _recordio_sizes(start: bytes) -> Iterator[tuple[int, int, int]]:
    offset = 0
    while offset + 8 <= len(start):
        magic, length = struct.unpack_from("<II", start, offset)
        if magic != _MAGIC:
            yield -1, 0, 0
            return
        size = length & _LENGTH
        yield offset + 8, size, offset + 8 + size + -size % 4
        offset += 8 + size + -size % 4


def _tfrecord(start: bytes, is_whole: bool, declared: str) -> Iterator[int]:
    yield from _chained(_tfrecord_sizes(start), start, is_whole, fewest=1 if "tfrecord" in declared else _FEWEST)


def _tfrecord_sizes(start: bytes) -> Iterator[tuple[int, int, int]]:
    offset = 0
    while offset + _TFRECORD_HEAD <= len(start):
        (size,) = struct.unpack_from("<Q", start, offset)
        end = offset + _TFRECORD_HEAD + size + _TFRECORD_TAIL
        if size > _LONGEST:
            yield -1, 0, 0
            return
        yield offset + _TFRECORD_HEAD, size, end
        offset = end


def _chained(records: Iterator[tuple[int, int, int]], start: bytes, is_whole: bool, *, fewest: int) -> Iterator[int]:
    """Yield the middle of each payload, if the records are as many as required and fill a whole stream exactly.

    ``records``: begin and size of each payload, and the end of its record; a begin of -1 is something else.
    """
    found = list(records)
    if len(found) < fewest or any(begin < 0 for begin, _, _ in found):
        return
    if is_whole and found[-1][2] != len(start):
        return
    yield from (begin + size // 2 for begin, size, _ in found if size and begin + size <= len(start))


def _json_lines(start: bytes, _: bool, declared: str) -> Iterator[int]:
    """Yield the middle of each line that is an object or an array: half of one is never JSON."""
    if declared not in (*_JSON_LINES, "jsonlines"):
        return
    for begin, line in _lines(start):
        try:
            is_one = isinstance(json.loads(line), dict | list)
        except ValueError:
            return
        if is_one:
            yield begin + len(line) // 2


def _csv(start: bytes, _: bool, declared: str) -> Iterator[int]:
    """Yield a place in the first field of each row, if there are others: a row cut there has too few fields."""
    if declared.partition(";")[0].strip() not in ("text/csv", "csv"):
        return
    counts = set()
    cuts = []
    for begin, line in _lines(start):
        first, comma, _rest = line.partition(b",")
        if b'"' in line:
            return  # a field may contain a comma or the end of a line
        counts.add(line.count(b","))
        if comma and first:
            cuts.append(begin + max(1, len(first) // 2))
    if len(counts) == 1 and counts != {0}:
        yield from cuts


def _lines(start: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the complete lines, with their offsets."""
    begin = 0
    while (end := start.find(b"\n", begin)) >= 0:
        line = start[begin:end].rstrip(b"\r")
        if line:
            yield begin, line
        begin = end + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStart:
    """``is_whole``: the stream has no more bytes."""

    content: bytes
    is_whole: bool


def read_stream_start(data: ChannelData, host: Host, hosts: tuple[Host, ...], directory: str) -> StreamStart:
    """Return the start of the first epoch. ``directory``: an empty one. Raise RunFailed if no feeder starts."""
    channel = data.feeder_channel(host, hosts)._replace(epochs=1)
    plan = FeederPlan(directory=os.path.abspath(directory), channels=[channel])
    feeder = own_feeder(host.name, plan, os.path.join(directory, "feeder.json"))
    try:
        # Without O_NONBLOCK, it would wait forever for a feeder that has failed.
        descriptor = os.open(os.path.join(directory, f"{channel.name}_0"), os.O_RDONLY | os.O_NONBLOCK)
        try:
            return _read(descriptor)
        finally:
            os.close(descriptor)
    finally:
        for _ in feeder.stop():
            pass


def _read(descriptor: int) -> StreamStart:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + _SECONDS
    content = b""
    while len(content) < _MOST and time.monotonic() < deadline:
        if not poll.poll(1000):
            continue
        data = os.read(descriptor, _MOST - len(content))
        if not data:
            return StreamStart(content=content, is_whole=True)
        content += data
    return StreamStart(content=content, is_whole=False)
