"""What variables of a shell have: the process ids of commands in the background, for `wait`, and kept statuses.

`wait` with several process ids has the status of the last one. What a variable has is a text with a letter for each
process: `t` for the command that fails, `z` for a list in which its failure is lost, `o` for others, and `?` if it is
not known; it is empty if the script has not set the variable. A kept status is `1` for a failure, else `0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.script.shell import ShellWord, Simple
from smspec.script.shell.state import ShellState

_MOST_JOBS = 9
_BY_NUMBER = "#"
"""Before the processes of an array whose entries are set by their numbers."""
_LAST = "!"
_EXPANSION = r"\$(?:(!)|([A-Za-z_]\w*)|\{(!|[A-Za-z_]\w*)(\[[@*]\])?\})"
_WORD = re.compile(rf'("?){_EXPANSION}"?|(%\d)')
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?(\+?)=(\(?)(.*)", re.DOTALL)
_KEEPS = re.compile(r"([A-Za-z_]\w*)=\"?\$(?:\?|\{\?\})\"?")
_PART = re.compile(rf"{_EXPANSION}|[\s\"()]+")


def started(after: ShellState, before: ShellState) -> ShellState:
    """Return the state after a list that was started in the background."""
    is_new = after.failed and not before.failed
    kind = "o" if not is_new else "t" if after.status else "z"
    number = sum(name.startswith("%") for name, _ in before.children) + 1
    names = (_LAST,) if number > _MOST_JOBS else (_LAST, f"%{number}")
    state = after._replace(status=0, pending=after.pending or is_new, children=before.children)
    for name in names:
        state = _with(name, kind, state)
    return state


def with_assigned(words: Iterable[ShellWord], state: ShellState) -> ShellState:
    """Return the state after assignments, and after the arguments of `local` and the like."""
    has_names = False
    for text in (word.text for word in words):
        match = _ASSIGNED.match(text)
        has_names |= re.fullmatch(r"-\w*A\w*", text) is not None
        if has_names:
            state = _with(f"{text.partition('=')[0]}[]", "?", state)  # the order of its entries is not known
        if match is None:
            continue
        name, index, adds, bracket, value = match.groups()
        name += "[]" if index or bracket else ""
        kinds = (_of(name, state) if adds or index else "") + _kinds(value, state)
        if index:  # the entries are in the order of their numbers: the one that fails may be the last
            kinds = _BY_NUMBER + "".join(sorted(kinds.replace(_BY_NUMBER, "")))
        state = _with(name, kinds, state)
    return state


def with_status(command: Simple, state: ShellState) -> ShellState | None:
    """Return the state after `rc=$?`; None for any other command."""
    match = None if command.words or len(command.assigned) != 1 else _KEEPS.fullmatch(command.assigned[0].text)
    return None if match is None else _with(match[1], str(int(state.status != 0)), state)._replace(status=0)


def kept(name: str, state: ShellState) -> int | None:
    """Return the status that a variable has; None if that is not known."""
    found = _of(name, state)
    return int(found) if found in ("0", "1") else None


def _uses_failure(text: str, state: ShellState) -> bool:
    """Return whether a word may use the failure that a variable has."""
    return any(kind == "1" and re.search(rf"\b{re.escape(name)}\b", text) for name, kind in state.children)


def elements(words: Iterable[ShellWord], state: ShellState, *, ordered: bool = False) -> str | None:
    """Return the processes that some words name; None if they name anything else, or their order is not known."""
    found = ""
    for word in words:
        kinds = _named(word.text, state)
        if not kinds or "?" in kinds:
            return None
        found += kinds
    bare = found.replace(_BY_NUMBER, "")
    return None if ordered and bare != found and len(bare) > 1 else bare or None


def waited(words: tuple[ShellWord, ...], state: ShellState) -> ShellState:
    """Return the state after `wait`, with its status."""
    if not words:
        return state._replace(is_waited=True)
    kinds = elements(words, state, ordered=True)
    if kinds is None:
        return state._replace(noticed=state.noticed or state.pending)
    if not {*kinds} & {"t", "z"}:
        return state
    if kinds[-1] == "t":
        return state._replace(status=1, pending=False, noticed=state.noticed or state.is_off)
    return state._replace(pending=False)


def with_element(name: str, kind: str, state: ShellState) -> ShellState:
    """Return the state in a pass of a loop over processes, or over anything else (`?`)."""
    return _with(name, kind, state)


def _with(name: str, kinds: str, state: ShellState) -> ShellState:
    """Return a state in which a variable has other processes; equal neighbors count once."""
    others = {one: kind for one, kind in state.children if one != name}
    short = "?" if "?" in kinds else re.sub("o+", "o", kinds)
    return state._replace(children=tuple(sorted({**others, name: short}.items()) if short else sorted(others.items())))


def _of(name: str, state: ShellState) -> str:
    return dict(state.children).get(name, "")


def _kinds(value: str, state: ShellState) -> str:
    """Return the processes in an assigned text."""
    found, at = "", 0
    while at < len(value):
        part = _PART.match(value, at)
        if part is None:
            return "?"
        if part[0][0] == "$":
            found += _of(_variable(*part.groups()), state)
        at = part.end()
    return found


def _named(word: str, state: ShellState) -> str:
    """Return the processes that a word of `wait` or of a loop names; more than one in quotes are not known."""
    match = _WORD.fullmatch(word)
    if match is None:
        return "?"
    if match[6]:
        return _of(match[6], state)
    kinds = _of(_variable(*match.groups()[1:5]), state)
    return "?" if match[1] and len(kinds) > 1 and match[5] != "[@]" else kinds


def _variable(last: str | None, plain: str | None, name: str | None, index: str | None) -> str:
    return (last or plain or name or "") + ("[]" if index else "")


def looked(word: ShellWord, state: ShellState, *, is_shown: bool = False) -> ShellState:
    """Return the state after the expansion of a word, which may be that of the status, or of a kept one."""
    is_seen = state.failed and ((state.status and re.search(r"\$\{?\?", word.text)) or "PIPESTATUS" in word.text)
    is_seen = is_seen or (not is_shown and _uses_failure(word.text, state))
    return state._replace(noticed=True) if is_seen else state
