"""Why a program failed, by exit status and standard error."""

import os
import re

from ..lean_typing import List, NamedTuple, Optional, Sequence
from ..outcome import Outcome
from .ending import FAULTS, child_ended_by, ended_by, signal_text
from .faults import find_fault
from .launchers import first_failure
from .lines import read_lines, texts
from .noise import end_without_noise, is_alarming, is_decisive, is_noise, log_level
from .pip_errors import pip_reason
from .tracebacks import Traceback, find_tracebacks, told

_SILENT = "no message"
_SIGTERM = 15
_MOST_WORDS = 20  # Lines.
_WRAPPERS = ("CalledProcessError", "ExecuteUserScriptError", "ProcessExitedException", "SignalException")
"""They repeat a child's failure, which it wrote before."""
_USAGE = re.compile(r"\S.*: error: ")
_OWN_LEVEL = re.compile(r"(?:WARN|WARNING|ERROR): ")
_OWN = "smspec: "  # Of a host that waited for its leader.
_BOX = "│"


class Reason(NamedTuple):
    """``details``: the traceback or the last lines."""

    text: str
    details: List[str]
    traceback: Optional[Traceback] = None

    @property
    def calls(self) -> List[str]:
        """The details without the message in ``text``."""
        return self.traceback.calls if self.traceback else self.details


def reason_of(outcome: Outcome, command: Sequence[str], is_pip: bool = False) -> Reason:
    lines = read_lines(outcome.output)
    own = texts(lines)
    said = outcome.error or (pip_reason(own) if is_pip else "")
    if outcome.killed:
        said = "SIGKILL: still running after SIGTERM and the grace"
    if said:
        return Reason(said, own[: end_without_noise(own)])
    program = os.path.basename(command[0]) if command else ""
    is_shell = not program.startswith(("python", "torchrun"))
    number = ended_by(outcome, is_shell, "\n".join(own[-_MOST_WORDS:]))
    failure = None if number == _SIGTERM else first_failure(lines)
    if failure is None:
        found = _of_lines(own, number, outcome, is_shell)
    else:
        ended = outcome._replace(status=failure.status)
        found = _of_lines(failure.lines, failure.signal, ended, False, not failure.is_marked)
        rank = f"rank {failure.rank}: " if failure.rank else ""
        if found.text == _SILENT:
            found = found._replace(text=failure.report or f"{rank}ended with exit status {failure.status}")
        elif failure.signal:
            found = found._replace(text=rank + found.text)
    last = found.traceback
    if outcome.stopped and (last.raised.kind == "SignalException" if last else program == "mpirun"):
        return Reason(signal_text(_SIGTERM), found.details)
    return found


def _of_lines(lines: List[str], number: int, outcome: Outcome, is_shell: bool, is_team: bool = False) -> Reason:
    """``is_team``: of several processes the first failure counts."""
    tracebacks = find_tracebacks(lines)
    if number:
        ended = signal_text(number, outcome.oom_kills)
        return _of_signal(lines, ended, tracebacks[-1:]) if number in FAULTS else Reason(ended, lines)
    chosen = _chosen(tracebacks, lines, is_team)
    # Lines after a repeated exception belong to the first.
    rest = lines[max((one.end for one in tracebacks), default=0) :]
    words = _last_words(rest)
    killed = f" (the kernel killed {outcome.oom_kills} for want of memory)" if outcome.oom_kills else ""
    if chosen is None:
        child = child_ended_by(outcome.status)
        if words.startswith(_OWN):
            words = words[len(_OWN) :]
        elif child and not is_decisive(words):
            ended = f"exit status {outcome.status - 256}: a child process was ended by {signal_text(child)}"
            words = f"{words} ({ended})" if find_fault(rest) else ended
        return Reason((words or _SILENT) + killed, lines)
    raised = told(chosen)
    before = [one for one in tracebacks if one.end <= chosen.start][-1:]
    if before and before[0].role == "concurrent" and not chosen.role and _is_next(before[0], chosen, lines):
        raised += f"; after {told(before[0])}"
    elif chosen.raised.kind == "CalledProcessError" and is_alarming(said := _last_words(lines[: chosen.start])):
        raised += f"; after {said}"
    is_uncaught = is_shell or is_team or outcome.status == 1
    # An exception that was logged was handled.
    went_on = chosen.role == "ignored" or log_level("".join(lines[: chosen.start][-1:])) in ("WARNING", "ERROR")
    if words and (is_decisive(words) or not is_uncaught or went_on):
        return Reason(f"{words}; after {raised}{killed}", [*chosen.lines, words], chosen)
    if rest and _OWN_LEVEL.match(rest[0]) and len(rest) <= _MOST_WORDS and not (is_team or chosen.role):
        # Perhaps the rest of the message: log lines have a time or a logger.
        raised += "\n" + "\n".join(rest).rstrip()
    elif words and (is_alarming(words) or chosen.role) and not is_team:
        raised += f"; then {words}"
    return Reason(raised + killed, [*chosen.lines], chosen)


def _of_signal(lines: List[str], ended: str, last: List[Traceback]) -> Reason:
    rest = lines[last[0].end :] if last else lines
    if fault := find_fault(rest):
        return Reason(f"{fault.text} ({ended})", rest[fault.start :])
    if last and end_without_noise(rest) == 0:
        return Reason(f"{told(last[0])}; then {ended}", [*last[0].lines])
    words = _last_words(rest)
    return Reason(f"{ended}; {words}" if is_alarming(words) else ended, lines)


def _chosen(tracebacks: List[Traceback], lines: List[str], is_team: bool) -> Optional[Traceback]:
    candidates = [one for one in tracebacks if one.role != "ignored"] or tracebacks
    place = len(candidates) - 1
    while place > 0 and _is_next(candidates[place - 1], candidates[place], lines):
        # The main thread's exception counts more than a thread's after it.
        is_aside = candidates[place].role == "concurrent" and not candidates[place - 1].role
        if not (is_team or is_aside or candidates[place].raised.kind in _WRAPPERS):
            break
        place -= 1
    return candidates[place] if candidates else None


def _is_next(before: Traceback, one: Traceback, lines: List[str]) -> bool:
    """Whether only noise is between them; the line before a thread's names the thread."""
    return all(map(is_noise, lines[before.end : one.start - (one.role != "")]))


def _last_words(lines: List[str]) -> str:
    """The last line with its beginning, or a fault of another language."""
    if fault := find_fault(lines):
        return fault.text
    end = end_without_noise(lines)
    start = max(end - 1, 0)
    while start and end - start < _MOST_WORDS and _goes_on(lines[start]) and not is_noise(lines[start - 1]):
        start -= 1
    usage = next((place for place in range(max(end - _MOST_WORDS, 0), start) if _USAGE.match(lines[place])), 0)
    if usage and any(line.startswith("usage: ") for line in lines[max(usage - _MOST_WORDS, 0) : usage]):
        start = usage  # argparse may write several lines.
    if lines[start:end] and _goes_on(lines[start]) and _BOX not in lines[start]:
        start = end - 1  # It has no beginning.
    return "\n".join(line.strip(_BOX + " ") if _BOX in line else line for line in lines[start:end])


def _goes_on(line: str) -> bool:
    return line[:1].isspace() or line.startswith(("- ", "* ", "• ", _BOX))
