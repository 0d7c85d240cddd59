"""Logs are read in blocks, and every reader of them finds what it found line by line."""

from collections import deque

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smspec.diagnostics.quoting import plain_spaces
from smspec.local.record.flows import METRICS, measured
from smspec.local.record.progress import Progress
from smspec.local.record.summary import RunRecord
from smspec.local.running.events import LogLines
from smspec.local.watch.host_log import LOG_LINES, LogText
from smspec_runtime.progress_bar import split_bar
from support.local.log_texts import BARS, LONGEST, cut, lines_of, logs, pieces, read

LENGTHS = st.lists(st.integers(1, LONGEST), min_size=1, max_size=8)


class Paper:
    err_is_terminal = err_in_colour = False

    def __init__(self):
        self.written = ""

    def paint(self, text):
        self.written += text


def heard(texts, verbosity=0):
    """Return what a run shows of texts, and its record."""
    paper, record = Paper(), RunRecord()
    progress = Progress(paper, clock=lambda: 0.0, verbosity=verbosity)
    for text in texts:
        for listener in (progress, record):
            listener.report(LogLines(host="algo-1", text=text))
        progress.tick()
    return paper.written, record


def tail_of(lines):
    kept = deque((line for line in lines if not line.startswith(METRICS)), maxlen=LOG_LINES)
    return "\n".join(line[:6096][:2000] if len(line) > 2000 else line for line in kept)


@given(st.lists(st.tuples(st.integers(0, 1), logs()), max_size=4), LENGTHS)
@example([(0, b"a\r\r\nb\r\n\rc\r")], [2])
@example([(0, b"\xe2\x94\n\x81\xf0\x9f\n"), (1, "é".encode() * 70_000)], [LONGEST])
@example([(0, "".join(f"{bar}behind\n{bar}\n\r{bar}{bar}\n" for bar in BARS).encode())], [7, 4096])
def test_blocks_have_the_same_lines(tmp_path_factory, written, lengths):
    """Whatever is written to the two streams, and wherever a read ends: in a line, a character, or a line end."""
    parts = [(stream, part) for stream, data in written for part in cut(data, lengths)]
    texts, log = read(str(tmp_path_factory.mktemp("log") / "algo-1.log"), parts)
    lines, expected = lines_of(parts)
    assert log == expected
    assert [line for text in texts for line in text.lines] == lines
    assert [text.count for text in map(LogText, (text.data for text in texts))] == [len(text.lines) for text in texts]
    assert [each.lines for text in texts for each in text.singly()] == [[line] for line in lines]
    shown, record = heard(texts)
    usual = [line for line in lines if not line.startswith(METRICS)]
    assert shown == "".join(f"algo-1 | {plain_spaces(line)}\n" for line in usual)
    assert heard(texts, verbosity=1)[0] == "".join(f"{0:8.2f} s  algo-1 | {plain_spaces(line)}\n" for line in lines)
    assert heard(texts, verbosity=-1)[0] == ""
    tail = record.logs.get("algo-1")
    assert (tail.text if tail else "") == tail_of(lines)
    assert (tail.left_out if tail else 0) == max(0, len(usual) - LOG_LINES)
    epochs = {found.epoch for line in lines if (found := measured(line))}
    assert {balance.first for balance in record.balances} == epochs


@given(st.lists(pieces(), min_size=1, max_size=4))
def test_text_without_a_sign_of_a_bar_has_none(parts):
    """What is not looked at for bars line by line must not have any."""
    line = b"".join(parts).replace(b"\n", b"").replace(b"\r", b"")
    text = line.decode("utf-8", "replace")
    assert LogText(line).plain is None or split_bar(text) == [text]


@pytest.mark.parametrize("bar", BARS)
def test_message_behind_each_bar_is_a_line(bar):
    assert LogText(f"before\n{bar}Message\nbehind".encode()).lines == ["before", *split_bar(f"{bar}Message"), "behind"]
    assert len(split_bar(f"{bar}Message")) == 2


def test_line_of_10_mb_is_read_in_pieces(tmp_path):
    data = b"first\n" + "0123456789é".encode() * 1_000_000 + b"\nlast"
    parts = [(0, part) for part in cut(data, [LONGEST])]
    texts, log = read(str(tmp_path / "algo-1.log"), parts)
    lines, expected = lines_of(parts)
    assert log == expected == data
    same = [line for text in texts for line in text.lines] == lines
    assert same
    assert max(len(text.data) for text in texts) <= 2 * LONGEST
    _, record = heard(texts)
    assert record.logs["algo-1"].text == tail_of(lines)
