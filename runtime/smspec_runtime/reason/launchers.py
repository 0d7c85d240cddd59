"""Which rank failed first, according to torchrun and mpirun."""

import re

from ..lean_typing import List, NamedTuple, Optional
from .lines import Line, texts
from .tracebacks import find_tracebacks

_TORCH = re.compile(r"(?s)Root Cause.*?rank\s+: (\d+).*?exitcode\s+: (-?\d+)")
_RULE = re.compile(r"-{60,}\s*$")
_MPI = re.compile(
    r"(?s)mpirun noticed that process rank (?P<killed>\d+) .*exited on signal (?P<signal>\d+)"
    r"|.*Process name: \[\[\d+,\d+\],(?P<rank>\d+)\]\s+Exit code:\s+(?P<status>\d+)"
    r"|MPI_ABORT was invoked on rank (?P<aborted>\d+) "
)


class RankFailure(NamedTuple):
    """``lines``: what the rank wrote, or all if lines have no ranks. ``report``: why no rank was started."""

    rank: str
    lines: List[str]
    signal: int = 0
    status: int = 1
    is_marked: bool = False
    report: str = ""


def first_failure(lines: List[Line]) -> Optional[RankFailure]:
    """The launcher's report, or the rank of the first traceback."""
    if own := [one for one in find_tracebacks(texts(lines)) if one.raised.kind == "ChildFailedError"]:
        # The rank's output has the traceback of `@record`, too.
        found = _TORCH.search("\n".join(texts(lines[own[-1].start :])))
        status = int(found[2]) if found else 1
        return _of_rank(lines[: own[-1].start], found[1] if found else "", max(-status, 0), status)
    reports = _ruled(lines)
    lines = [line for line in lines if line.rank or line.text]
    for report in reports:
        if said := _MPI.match(report):
            rank = said["killed"] or said["rank"] or said["aborted"]
            return _of_rank(lines, rank, int(said["signal"] or 0), int(said["status"] or 1))
    if reports:
        marked = [line for line in lines if line.rank]
        return _of_rank(marked, "")._replace(report=reports[0].split("\n\n")[0])
    first = (len(lines), "")
    for rank in {line.rank for line in lines if line.rank}:
        places = [place for place, line in enumerate(lines) if line.rank == rank]
        if tracebacks := find_tracebacks([lines[place].text for place in places]):
            first = min(first, (places[tracebacks[-1].start], rank))
    return _of_rank(lines, first[1]) if first[1] else None


def _ruled(lines: List[Line]) -> List[str]:
    """Return mpirun's text between two rules, and empty these lines."""
    reports = []
    inside = None
    for place, line in enumerate(lines):
        if line.rank or (inside is None and not _RULE.match(line.text)):
            continue
        lines[place] = Line("", "")
        if not _RULE.match(line.text):
            inside = [*(inside or []), line.text]
        elif inside is None:
            inside = []
        else:
            reports.append("\n".join(inside).strip())
            inside = None
    return reports


def _of_rank(lines: List[Line], rank: str, number: int = 0, status: int = 1) -> RankFailure:
    own = [line.text for line in lines if rank and line.rank == rank]
    if any(text.strip() for text in own):
        return RankFailure(rank, own, number, status, is_marked=True)
    # Without the lines of other ranks.
    return RankFailure(rank, [line.text for line in lines if not (rank and line.rank)], number, status)
