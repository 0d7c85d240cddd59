"""What a shell knows at a point of its script: its settings, its trap, and what became of the command that fails."""

from __future__ import annotations

from typing import NamedTuple

from smspec.script.shell import AndOrList, NotUnderstood
from smspec.script.shell.grammar import shell_script


class ShellState(NamedTuple):
    """``pending``: the command failed in the background; ``is_waited``: a `wait` came after it that loses the status.

    ``children``: the processes that variables have (`smspec.script.shell.children`).
    """

    errexit: bool
    pipefail: bool
    failed: bool = False
    status: int = 0
    is_off: bool = False
    noticed: bool = False
    trap: tuple[AndOrList, ...] = ()
    pending: bool = False
    is_waited: bool = False
    children: tuple[tuple[str, str], ...] = ()


def inside(state: ShellState) -> ShellState:
    """Return the state at the beginning of a subshell, which cannot wait for the processes of its shell."""
    return state._replace(trap=(), children=())


def outside(end: ShellState, before: ShellState) -> ShellState:
    """Return the state after a subshell, which keeps its settings to itself."""
    return before._replace(
        failed=end.failed, status=end.status, noticed=end.noticed, pending=end.pending, is_waited=end.is_waited
    )


def with_settings(words: list[str | None], state: ShellState) -> ShellState:
    """Return the state after `set`."""
    rest = [*words]
    while rest:
        word = rest.pop(0)
        if word is None or word in ("-", "--") or word[:1] not in "-+" or not word:
            break
        is_on = word[0] == "-"
        for letter in word[1:]:
            named = (rest.pop(0) if rest else None) if letter == "o" else ""
            if letter == "e" or named == "errexit":
                state = state._replace(errexit=is_on, is_off=not is_on)
            elif named == "pipefail":
                state = state._replace(pipefail=is_on)
            elif letter == "n" or named is None:
                raise NotUnderstood
    return state


def with_trap(words: list[str | None], state: ShellState) -> ShellState:
    """Return the state after `trap`; one of ERR handles failures."""
    signals = words[1:]
    if None in signals or {"ERR", "DEBUG", "RETURN"} & {str(one).removeprefix("SIG").upper() for one in signals}:
        raise NotUnderstood
    if not {"EXIT", "0"} & {str(one) for one in signals}:
        return state
    if words[0] is None:
        raise NotUnderstood
    return state._replace(trap=() if words[0] in ("-", "") else shell_script(words[0]))
