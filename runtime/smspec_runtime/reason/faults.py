"""How programs other than Python report their end."""

import re

from ..lean_typing import List, NamedTuple, Optional
from .noise import is_noise

_LOOKED_AT, _MOST = 400, 8  # Lines from the end; of a message.
_CRASH = re.compile(
    r"terminate called |Fatal Python error: |double free|(?:free|malloc|realloc|munmap_chunk)\(\): "
    r"|^(?:F\d{4} \d\d:\d\d:|.*: Assertion .* failed|panic: |thread '.*' .*panicked at |\*\*\* .* \*\*\*|corrupted )"
)
"""The lines after one of these belong to it."""
_TIMEOUT, _STACKS = re.compile(r"Timeout \(\d+:\d\d:\d\d.*\)!$"), re.compile(r"\s|(?:Current t|T)hread 0x|$")
_STACK = re.compile(r'(?:Exception in thread "[^"]*" )?((?:[\w$.]+\.)?(?:[A-Z]\w*)?(?:Error|Exception)\b.*)')


class Fault(NamedTuple):
    start: int
    text: str


def find_fault(lines: List[str]) -> Optional[Fault]:
    """The last fault, unless more than its own lines follow."""
    first = max(len(lines) - _LOOKED_AT, 0)
    for place in range(first, len(lines)):
        if head := _CRASH.search(lines[place]):
            return Fault(place, _crash_text(lines[place : place + _MOST], head.start()))
        if _TIMEOUT.match(lines[place]) and all(map(_STACKS.match, lines[place + 1 :])):
            return Fault(place, lines[place])
    for place in range(len(lines) - 1, first - 1, -1):
        head = _STACK.match(lines[place])
        if head and "".join(lines[place + 1 : place + 2]).lstrip().startswith("at "):
            causes = [line.partition(": ")[2] for line in lines[place:] if line.startswith("Caused by: ")]
            return Fault(place, "; caused by ".join([head[1], *causes]))
        if lines[place][:1].strip() and not lines[place].startswith("Caused by: ") and not is_noise(lines[place]):
            return None
    return None


def _crash_text(lines: List[str], start: int) -> str:
    """C++ and Rust continue in the lines below."""
    end, lines[0] = 1, lines[0][start:]
    if lines[0].startswith(("terminate ", "thread ")):
        is_end = [not line.strip() or line.startswith(("note: ", "Exception ")) for line in lines]
        end = [*is_end, True].index(True)
    return re.sub(r"(?<=') \(\d+\)", "", " ".join(" ".join(lines[:end]).split()))
