"""Python's tracebacks, with chains of exceptions."""

import re

from ..lean_typing import Iterator, List, NamedTuple, Optional, Tuple
from .noise import ends_message

_HEADER = re.compile(r"(?P<margin>.{0,40}?)(?P<group>\+ Exception Group )?Traceback \(most recent call last\):\s*$")
_LINKS = {
    "The above exception was the direct cause of the following exception:": "caused by",
    "During handling of the above exception, another exception occurred:": "while handling",
}
_IGNORED = re.compile(r"Exception ignored |--- Logging error ---|Error in atexit\.|Error in sys\.excepthook")
_CONCURRENT = re.compile(
    r"Exception in thread |Process \S+:$|Exception in callback |Task exception was never retrieved"
)
_QUOTED = re.compile(r'"""$|.*:\s*$')
_CALL = re.compile(r'  File "[^"]+", line \d+')
_BARS = re.compile(r"\s*(?:[|+] ?)+")
_REMOTE = ("RemoteTraceback", "_RemoteTraceback")
_END_OF_GROUP = re.compile(r"    \+-{36}$")
_PARTS = 12  # Of a group.
_DEPTH = 4  # Workers of workers.
_MOST_TOLD = 4


class Raised(NamedTuple):
    """``link``: the relation to the next."""

    text: str
    link: str = ""

    @property
    def kind(self) -> str:
        return self.text.partition(":")[0].rpartition(".")[2].strip()


class Traceback(NamedTuple):
    """``chain``: the last exception, then those before it. ``role``: empty, ``ignored``, or ``concurrent`` of a thread
    or a worker."""

    start: int
    end: int
    role: str
    chain: Tuple[Raised, ...]
    lines: Tuple[str, ...]

    @property
    def raised(self) -> Raised:
        return self.chain[0]

    @property
    def calls(self) -> List[str]:
        """The lines without the message of the exception, but for its class."""
        text = self.raised.text
        return [*self.lines[: -text.count("\n") - 1], text.partition(":")[0]]


def find_tracebacks(lines: List[str]) -> List[Traceback]:
    found: List[Traceback] = []
    position = 0
    while position < len(lines):
        header = _HEADER.match(lines[position])
        one = _traceback(lines, position, header) if header else None
        if one is None:
            position += 1
            continue
        link = _link_before(lines, found[-1].end, position) if found else ""
        if link:
            # Its message is all before the link.
            before = _extended(found.pop(), lines, position)
            chain = (*one.chain, before.raised._replace(link=link), *before.chain[1:])
            one = one._replace(start=before.start, role=before.role, chain=chain, lines=before.lines + one.lines)
        found.append(one)
        position = max(one.end, position + 1)
    return found or _without_header(lines)


def told(one: Traceback) -> str:
    parts: List[str] = []
    for raised in one.chain:
        text = raised.text
        is_same = any(text in part or part in text for part in parts[:1])
        if len(parts) < _MOST_TOLD and raised.kind not in _REMOTE and not is_same:
            parts.append(f"{raised.link} {text}" if parts else text)
    return "; ".join(parts)


def _without_header(lines: List[str]) -> List[Traceback]:
    """For a truncated one, and for a syntax error, which has none."""
    calls = [place for place, line in enumerate(lines) if _CALL.match(line)]
    if not calls:
        return []
    first = calls[-1]
    while first and lines[first - 1][:1].isspace():
        first -= 1
    header = "Traceback (most recent call last):"
    one = _traceback([*lines[:first], header, *lines[first:]], first, _HEADER.match(header))  # type: ignore[arg-type]
    return [one._replace(end=one.end - 1, lines=one.lines[1:])] if one else []


def _traceback(lines: List[str], start: int, header: "re.Match[str]", depth: int = 0) -> Optional[Traceback]:
    margin = header["margin"]
    follows = lines[start + 1] if start + 1 < len(lines) else ""
    role = _role(lines[max(start - 2, 0) : start])
    if header["group"]:
        return _group(lines, start, role)
    if margin and not (follows.startswith(margin) and follows[len(margin) :][:1].isspace()):
        margin = ""  # Only before the first line: a progress bar, a log.
    own = list(_without(lines[start:], margin)) if margin else lines[start:]
    frames = 1
    while frames < len(own) and (own[frames][:1].isspace() or _HEADER.match(own[frames])):
        frames += 1
    if frames >= len(own) or not own[frames].strip():
        return None  # Cut off, or the calls that led to something else.
    last = frames + 1
    while last < len(own) and not _ends(own[last]) and not (role and own[last][:1].strip()):
        last += 1
    while last > frames + 1 and not own[last - 1].strip():
        last -= 1
    shown = tuple(own[:last])
    chain: Tuple[Raised, ...] = (Raised("\n".join(own[frames:last])),)
    header_of_worker = _HEADER.match(own[last]) if last < len(own) and depth < _DEPTH else None
    if header_of_worker and (_QUOTED.match(own[last - 1]) or header_of_worker["margin"] == "Original "):
        # A worker's traceback as a message.
        inner = _traceback(own, last, header_of_worker, depth + 1)
        if inner:
            reported = " ".join(" ".join(own[frames:last]).split()).rstrip(' ":')
            chain = (*inner.chain, Raised(reported, "reported as"))
            last = inner.end
            shown = inner.lines
            if last < len(own) and own[last] == '"""':
                last += 1
    return Traceback(start, start + last, role, chain, shown)


def _without(lines: List[str], margin: str) -> Iterator[str]:
    """The lines with the margin, without it; empty ones may lack it."""
    for line in lines:
        if line.strip() and not line.startswith(margin):
            return
        yield line[len(margin) :]


def _ends(line: str) -> bool:
    is_next = any(pattern.match(line) for pattern in (_HEADER, _IGNORED, _CONCURRENT))
    return is_next or line in (*_LINKS, '"""', "[end of output]") or ends_message(line)


def _role(before: List[str]) -> str:
    for line in reversed(before):
        if _IGNORED.match(line):
            return "ignored"
        if _CONCURRENT.match(line):
            return "concurrent"
        if line.strip():
            break
    return ""


def _link_before(lines: List[str], end: int, start: int) -> str:
    between = [line for line in lines[max(end, start - 3) : start] if line.strip()]
    return _LINKS.get(between[-1].strip(" |"), "") if between else ""


def _extended(one: Traceback, lines: List[str], start: int) -> Traceback:
    rest = lines[one.end : start]
    rest = rest[: rest.index('"""')] if '"""' in rest else rest
    while rest and (not rest[-1].strip() or rest[-1] in _LINKS):
        rest.pop()
    if not rest:
        return one
    raised = one.raised._replace(text="\n".join([one.raised.text, *rest]))
    return one._replace(chain=(raised, *one.chain[1:]), lines=(*one.lines, *rest))


def _group(lines: List[str], start: int, role: str) -> Optional[Traceback]:
    end = next((place + 1 for place in range(start, len(lines)) if _END_OF_GROUP.match(lines[place])), 0)
    if not end:
        return None  # Cut off.
    parts: List[str] = []
    is_message = False
    for line in lines[start + 1 : end]:
        bars = _BARS.match(line)
        text = line[bars.end() :] if bars else line  # Of a message only the first line has them.
        if _HEADER.match(text) or text in _LINKS or text[:1] in ("", "-", " "):
            is_message = False
        elif is_message:
            parts[-1] += " " + text
        else:
            parts, is_message = [*parts, text], True
    return Traceback(start, end, role, (Raised("; ".join(parts[:_PARTS])),), tuple(lines[start:end]))
