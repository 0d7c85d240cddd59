"""Logs as jobs write them, and how they were read line by line, which is what reading in blocks is compared with."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator

from hypothesis import strategies as st

from smspec.diagnostics.quoting import last_state
from smspec.local.running.events import LogLines
from smspec.local.watch.host_log import HostLog, LogText
from smspec_runtime.progress_bar import split_bar

LONGEST = 1 << 16

BARS = (
    " 50%|█████     | 50/100 [00:00<00:00, 123.45it/s]",
    "Epoch 1:  50%|█████     | 50/100 [00:00<?, ?it/s, loss=[0.1, 0.2]]",
    " 12%|#         | 1.20G/9.9G [01:00:12<00:00, 99MB/s] ",
    "1234it [00:12, 99.9it/s]",
    "\u0663\u0664it [\u0660\u0661:\u0662\u0663, 99.9it/s]",
    "12% |     | ETA:   0:00:01",
    "12% |#####     | ETA:   0:00:01",
    "5/10 [=====>....] - ETA: 3s - loss: 0.5",
    "[==============] 12% Complete",
    "━━━━━━━━━━ 10/10 0s 1ms/step - loss: 0.2",
    "Downloading ╺━━━╸━━━━ 12% 0:00:01",
    "step |⣿⣿⣿⣿⣿⣀⣀| ▃▅▇ 3/7 [43%] in 2s (1.5/s)",
    " 5% (1 of 20) |=>        | Elapsed Time: 0:00:01 ETA:   0:00:19",
)
OTHERS = (
    *(
        "loss=0.5",
        "step 7 loss=1e-05 acc: 0.25",
        "[2026-11-29 10:00:00,123] INFO",
        "[10:00:00,123] | loss=7",
        "|---|---|",
    ),
    *('{"smspec": "pipe", "channel": "train", "epoch": 1, "fifo": 0, "seconds": 1, "waited": 0.5, "computed": 0.5}',),
    *(
        '{"smspec": "pipe", broken',
        "1\u202f000\xa0ms",
        "é€𝄞",
        "\x1b[31mred\x1b[0m\t.",
        "\x85\x0b\x0c\x1c\u2028",
        "",
        " ",
    ),
)
BROKEN = (b"\xff", b"\xe2\x94", b"\xf0\x9d\x84", b"\xc3", b"\xe2\x28\xa1", b"\x80", b"\x00", b"\xed\xa0\x80")
ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\r\r\n", b"")


def pieces(most: int = 40_000) -> st.SearchStrategy[bytes]:
    """Return parts of lines, some of them repeated."""
    return st.one_of(
        st.sampled_from([text.encode() for text in (*BARS, *OTHERS)]),
        st.sampled_from(BROKEN),
        st.text(max_size=12).map(str.encode),
        st.builds(
            lambda text, count: text * count, st.sampled_from((b"x", b"ab ", "é".encode())), st.integers(1, most)
        ),
    )


def logs(most: int = 40_000) -> st.SearchStrategy[bytes]:
    """Return what a host writes."""
    parts = st.lists(st.tuples(pieces(most), st.sampled_from(ENDS)), max_size=30)
    return parts.map(lambda parts: b"".join(text + end for text, end in parts))


def cut(data: bytes, lengths: list[int]) -> Iterator[bytes]:
    """Yield parts of data that begin where the lengths end, over and over; a pipe returns no more at once."""
    at = number = 0
    while at < len(data):
        length = min(LONGEST, lengths[number % len(lengths)])
        yield data[at : at + length]
        at, number = at + length, number + 1


def read(path: str, parts: list[tuple[int, bytes]]) -> tuple[list[LogText], bytes]:
    """Write parts to streams of a host, 0 or 1, and read each; return what was read, and the content of the log."""
    log, found = HostLog(path), []
    for stream, part in parts:
        os.write(log.streams[stream], part)
        found += log.read(log.descriptors[stream]) or []
    found += log.close()
    with open(path, "rb") as file:
        return found, file.read()


def shown(line: bytes) -> list[str]:
    """Return what is shown of a line of a log."""
    return split_bar(last_state(line.decode("utf-8", "replace")))


def lines_of(parts: list[tuple[int, bytes]]) -> tuple[list[str], bytes]:
    """Return the lines and the content of the log of `read`, made line by line."""
    begun, lines, written = {0: b"", 1: b""}, [], b""
    unended: int | None = None

    def write(stream: int, data: bytes) -> None:
        nonlocal written, unended
        written += (b"" if unended in (None, stream) else b"\n") + data
        unended = None if data.endswith(b"\n") else stream

    for stream, part in parts:
        *whole, rest = (begun[stream] + part).split(b"\n")
        if whole:
            write(stream, b"\n".join([*whole, b""]))
        for line in whole:
            lines += shown(line)
        if len(rest) > LONGEST:
            _, used = codecs.utf_8_decode(rest, "replace", False)
            write(stream, rest[:used])
            lines += shown(rest[:used])
            rest = rest[used:]
        begun[stream] = rest
    for stream, rest in begun.items():
        if rest:
            write(stream, rest)
            lines += shown(rest)
    return lines, written


def logged(host: str, text: str) -> LogLines:
    """Return the event that a host has written lines."""
    return LogLines(host=host, text=LogText(text.encode()))
