"""The commands in the background of a shell: which variables have their process ids, and what `wait` returns for them.

`wait` with several process ids has the status of the last one. What a variable has is a text with a letter for each
process: `t` for the command that fails, `z` for a list in which its failure is lost, `o` for others, and `?` if it is
not known; it is empty if the script has not set the variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.script.shell import ShellWord
from smspec.script.shell.state import ShellState

_MOST_JOBS = 9
_LAST = "!"
_EXPANSION = r"\$(?:(!)|([A-Za-z_]\w*)|\{(!|[A-Za-z_]\w*)(\[[@*]\])?\})"
_WORD = re.compile(rf'("?){_EXPANSION}"?|(%\d)')
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?(\+?)=(\(?)(.*)", re.DOTALL)
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
    for match in (_ASSIGNED.match(word.text) for word in words):
        if match is None:
            continue
        name, index, adds, bracket, value = match.groups()
        name += "[]" if index or bracket else ""
        kinds = "?" if index else _kinds(value, state)
        state = _with(name, (_of(name, state) if adds else "") + kinds, state)
    return state


def elements(words: Iterable[ShellWord], state: ShellState) -> str | None:
    """Return the processes that some words name; None if they name anything else."""
    found = ""
    for word in words:
        kinds = _named(word.text, state)
        if not kinds or "?" in kinds:
            return None
        found += kinds
    return found or None


def waited(words: tuple[ShellWord, ...], state: ShellState) -> ShellState:
    """Return the state after `wait`, with its status."""
    if not words:
        return state._replace(is_waited=True)
    kinds = elements(words, state)
    if kinds is None or not {*kinds} & {"t", "z"}:
        return state._replace(noticed=state.noticed or state.pending)
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
