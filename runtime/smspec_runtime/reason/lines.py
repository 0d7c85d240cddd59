"""Standard error as lines, with the ranks that launchers mark."""

import re

from ..lean_typing import List, NamedTuple
from ..progress_bar import split_bar

_TERMINAL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colors, movements of the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_MPIRUN = re.compile(r"\[1,(\d+)\]<std(?:err|out)>:")
_TORCH = re.compile(r"\[(?:rank|default)(\d+)\]: ?")


class Line(NamedTuple):
    """``rank``: its writer; empty if unknown."""

    rank: str
    text: str


def read_lines(output: bytes) -> List[Line]:
    """As a terminal shows them; each step of a progress bar is a line."""
    text = _TERMINAL.sub("", output.decode("utf-8", "replace"))
    lines = []
    for written in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        for line in _of_mpirun(written) if "]<std" in written else [_of_torch("", written)]:
            lines += [Line(line.rank, part) for part in split_bar(line.text)]
    return lines


def texts(lines: List[Line]) -> List[str]:
    return [line.text for line in lines]


def _of_torch(rank: str, text: str) -> Line:
    while text[:1] == "[" and (mark := _TORCH.match(text)):
        rank, text = mark[1], text[mark.end() :]
    return Line(rank, text)


def _of_mpirun(written: str) -> List[Line]:
    """Every piece of a line is marked; two ranks may share one."""
    pieces = _MPIRUN.split(written)
    found = [Line("", pieces[0])] if pieces[0] else []
    for rank, text in zip(pieces[1::2], pieces[2::2]):
        if found and found[-1].rank == rank:
            found[-1] = Line(rank, found[-1].text + text)
        else:
            found.append(Line(rank, text))
    return [_of_torch(*line) for line in found]
