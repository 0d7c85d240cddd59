"""Follow a shell script along all paths: one command fails the first time that it runs, and all others succeed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from smspec.script.shell import (
    AndOrList,
    Compound,
    NotUnderstood,
    Pipeline,
    ShellFunction,
    ShellWord,
    Simple,
    simple_commands,
)
from smspec.script.shell.children import (
    elements,
    looked,
    started,
    waited,
    with_assigned,
    with_element,
    with_status,
)
from smspec.script.shell.retries import HARMLESS, answer, handles, retries, tests_a_file, tests_the_status
from smspec.script.shell.state import ShellState, inside, outside, with_settings, with_trap
from smspec.script.shell.words import pass_counts

Shell = Literal["bash", "sh"]

MOST_STEPS = 10_000
_DEEPEST_CALLS = 20
MAY_FAIL = re.compile(r"\[|cmp|command|diff|expr|[ef]?grep|kill|let|mountpoint|pgrep|read|test|type|which")
"""Commands whose status is an answer."""
QUIET_SOURCES = re.compile(r"(?:.*/)?(?:activate|conda\.sh|\.?bashrc|\.?(?:bash_)?profile|\.env|env\.sh|setvars\.sh)")
DECLARE = frozenset({"declare", "export", "local", "readonly", "typeset"})

_NEGATED = 2
"""The status of a command that `!` makes one of a failure."""

_Outcome = tuple[str, ShellState]
"""How a part ends: `next`, `exit`, `return`, `break`, or `continue`."""


class Walk:
    """Follows one script with one command that fails; ``change``: `trap` or `set` do nothing, or `||` ends with it.

    With ``always``, the command fails in each try of a loop, and what may need its result may fail, too.
    """

    def __init__(
        self, items: tuple[AndOrList, ...], shell: Shell, target: Simple, change: str = "", *, always: bool = False
    ) -> None:
        self._items, self._shell, self._target, self._change = items, shell, target, change
        self._always, self._retries = always, retries(items) if always else frozenset()
        self._is_muted, self._runs = False, 0
        self._functions: dict[str, Compound] = {}
        self.steps = self._calls = 0
        self._in_trap = False

    def loses(self, *, errexit: bool, pipefail: bool, is_service: bool = False) -> bool:
        """Return whether the script ends with 0 wherever the command ran; nothing need wait for a service."""
        failed = self._failed(errexit=errexit, pipefail=pipefail)
        is_last = bool(self._items) and self._items[-1].is_background
        return bool(failed) and not any(
            one.status or one.noticed or (one.pending and (is_service or not (one.is_waited or is_last)))
            for one in failed
        )

    def fails(self, *, errexit: bool, pipefail: bool) -> bool:
        """Return whether the script ends with a failure wherever the command ran."""
        failed = self._failed(errexit=errexit, pipefail=pipefail)
        return bool(failed) and all(state.status and not state.noticed for state in failed)

    def _failed(self, *, errexit: bool, pipefail: bool) -> list[ShellState]:
        ends: set[ShellState] = set()
        for _, state in self._run(self._items, ShellState(errexit, pipefail), exempt=False):
            ends |= self._trapped(state)
        return [state for state in ends if state.failed]

    def _trapped(self, state: ShellState) -> set[ShellState]:
        """Return the states after the trap of a shell that exits."""
        if not state.trap:
            return {state}
        self._in_trap = True
        found = set()
        for kind, end in self._run(state.trap, state._replace(trap=()), exempt=False):
            found.add(end if kind == "exit" else end._replace(status=state.status))
        self._in_trap = False
        return found

    def _run(self, items: tuple[AndOrList, ...], state: ShellState, *, exempt: bool) -> set[_Outcome]:
        """Return how a list of commands can end. ``exempt``: `set -e` has no effect here."""
        ahead, ended = {state}, set[_Outcome]()
        for item in items:
            found: set[ShellState] = set()
            for before in ahead:
                for kind, after in self._item(item, before, exempt=exempt):
                    if kind == "next":
                        found.add(after)
                    else:
                        ended.add((kind, after))
            ahead = found
        return ended | {("next", after) for after in ahead}

    def _separate(self, outcomes: set[_Outcome], before: ShellState) -> set[ShellState]:
        """Return the states after a subshell, which keeps its settings to itself."""
        ends = (end for _, after in outcomes for end in self._trapped(after))
        return {outside(end, before) for end in ends}

    def _item(self, item: AndOrList, state: ShellState, *, exempt: bool) -> set[_Outcome]:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise NotUnderstood
        if id(item) in self._retries:
            with self._muted():
                return self._list(item, state, exempt=exempt)
        if not item.is_background:
            return self._list(item, state, exempt=exempt)
        inner = self._separate(self._list(item, inside(state), exempt=exempt), state)
        return {("next", started(after, state)) for after in inner}

    def _list(self, item: AndOrList, state: ShellState, *, exempt: bool) -> set[_Outcome]:
        ahead, ended = {state}, set[_Outcome]()
        last = len(item.pipelines) - 1
        for index, pipeline in enumerate(item.pipelines):
            found: set[ShellState] = set()
            for before in ahead:
                if index and (item.operators[index - 1] == "&&") != (before.status == 0):
                    found.add(before)
                    continue
                for kind, after in self._pipeline(pipeline, before, exempt=exempt or index < last):
                    if kind != "next":
                        ended.add((kind, after))
                    elif after.failed and handles(item, index) and tests_a_file((item,)):
                        found.add(after._replace(noticed=True))
                    else:
                        found.add(self._handled(after, before) if handles(item, index) else after)
            ahead = found
        return ended | {("next", after) for after in ahead}

    @contextmanager
    def _muted(self) -> Iterator[None]:
        """While it is open, a look at the status only decides about another try."""
        before, self._is_muted = self._is_muted, True
        yield
        self._is_muted = before

    def _handled(self, after: ShellState, before: ShellState) -> ShellState:
        """Return the state where the script looks at the status of what ran between two states."""
        if self._is_muted:
            return after
        is_new = after.failed and not after.pending and (before.pending or not before.failed)
        is_seen = is_new and after.status not in (0, _NEGATED)
        return after._replace(noticed=True) if is_seen else after

    def _pipeline(self, pipeline: Pipeline, state: ShellState, *, exempt: bool) -> set[_Outcome]:
        exempt_here = exempt or pipeline.is_negated
        if len(pipeline.commands) == 1:
            outcomes = self._command(pipeline.commands[0], state, exempt=exempt_here)
        else:
            ahead = {(state, 0)}
            for command in pipeline.commands:
                ahead = {
                    (after, after.status or (status if state.pipefail else 0))
                    for before, status in ahead
                    for after in self._separate(self._command(command, inside(before), exempt=exempt_here), state)
                }
            outcomes = {self._checked(after._replace(status=status), exempt=exempt_here) for after, status in ahead}
        if not pipeline.is_negated:
            return outcomes
        return {
            (
                kind,
                self._handled(after, state)._replace(status=0 if after.status else _NEGATED)
                if kind == "next"
                else after,
            )
            for kind, after in outcomes
        }

    @staticmethod
    def _checked(state: ShellState, *, exempt: bool) -> _Outcome:
        """Return how the script goes on after a command, which ends it under `set -e`."""
        return ("exit" if state.status and state.errexit and not exempt else "next"), state

    def _command(self, command: Simple | Compound | ShellFunction, state: ShellState, *, exempt: bool) -> set[_Outcome]:
        if isinstance(command, ShellFunction):
            if self._functions.setdefault(command.name, command.body) is not command.body:
                raise NotUnderstood
            return {("next", state._replace(status=0))}
        if self._is_muted and (status := answer(command, state)) is not None:
            return {("next", state._replace(status=status))}
        if self._always and isinstance(command, Simple) and (after := with_status(command, state)) is not None:
            return {("next", after)}
        if isinstance(command, Simple):
            return {one for before in self._expanded(command, state) for one in self._simple(command, before, exempt)}
        before = state
        for word in command.expanded:
            before = looked(word, before)
        match command.kind:
            case "group":
                return self._run(command.parts[0], before, exempt=exempt)
            case "subshell":
                inner = self._run(command.parts[0], inside(before), exempt=exempt)
                return {self._checked(after, exempt=exempt) for after in self._separate(inner, before)}
            case "test":
                return {self._checked(before._replace(status=status), exempt=exempt) for status in (0, 1)}
            case "if":
                return self._if(command.parts, before, exempt=exempt)
            case "case":
                outcomes = {one for part in command.parts for one in self._run(part, before, exempt=exempt)}
                return outcomes if command.is_exhaustive else outcomes | {("next", before._replace(status=0))}
            case "for":
                return self._for(command, before, exempt=exempt)
        return self._while(command, before, exempt=exempt)

    def _if(self, parts: tuple[tuple[AndOrList, ...], ...], state: ShellState, *, exempt: bool) -> set[_Outcome]:
        if not parts:
            return {("next", state._replace(status=0))}
        if len(parts) == 1:
            return self._run(parts[0], state, exempt=exempt)
        ended: set[_Outcome] = set()
        for kind, after in self._condition(parts[0], state):
            if kind != "next":
                ended.add((kind, after))
                continue
            seen = after if id(parts[0]) in self._retries else self._handled(after, state)
            ended |= (
                self._if(parts[2:], seen, exempt=exempt) if seen.status else self._run(parts[1], seen, exempt=exempt)
            )
        return ended

    def _condition(self, items: tuple[AndOrList, ...], state: ShellState) -> set[_Outcome]:
        """Return how a condition can end: it may be true or false, unless it is `true` or the command that fails."""
        runs = self._runs
        if id(items) in self._retries:
            with self._muted():
                outcomes = self._run(items, state, exempt=True)
            if self._runs > runs or tests_the_status(items):
                return outcomes
        else:
            outcomes = self._run(items, state, exempt=True)
        if any(one.words[:1] and one.words[0].value in ("true", ":") for one in simple_commands(items)):
            return outcomes
        open_ends = [after for kind, after in outcomes if kind == "next" and after.failed == state.failed]
        return outcomes | {("next", one._replace(status=0 if one.status else _NEGATED)) for one in open_ends}

    def _while(self, command: Compound, state: ShellState, *, exempt: bool) -> set[_Outcome]:
        ended: set[_Outcome] = set()
        ahead, seen = {(state, 0)}, set[tuple[ShellState, int]]()
        while ahead:
            head, last = one = ahead.pop()
            seen.add(one)
            for kind, after in self._condition(command.parts[0], head):
                checked = after if id(command.parts[0]) in self._retries else self._handled(after, head)
                if checked.failed and tests_a_file(command.parts[0]):
                    checked = checked._replace(noticed=True)
                if kind != "next":
                    ended.add((kind, after))
                elif (checked.status == 0) == (command.kind == "until"):
                    ended.add(("next", checked._replace(status=last)))
                else:
                    again, left = self._passes(command.parts[1], {checked}, exempt=exempt)
                    ahead |= {(one, one.status) for one in again} - seen
                    ended |= left
        return ended

    def _for(self, command: Compound, state: ShellState, *, exempt: bool) -> set[_Outcome]:
        body, ahead, ended = command.parts[0], {state}, set[_Outcome]()
        children = elements(command.words or (), state)
        for kind in children or "":
            ahead, left = self._passes(
                body, {with_element(command.variable, kind, one) for one in ahead}, exempt=exempt
            )
            ended |= left
        if children:
            return ended | {("next", after) for after in ahead}
        ahead = {with_element(command.variable, "?", state)}
        least, most = pass_counts(command.words, is_bash=self._shell == "bash")
        for number in range(most + 1):
            if number >= least:
                ended |= {("next", after if number else after._replace(status=0)) for after in ahead}
            if number < most:
                ahead, left = self._passes(body, ahead, exempt=exempt)
                ended |= left
        return ended

    def _passes(
        self, body: tuple[AndOrList, ...], states: set[ShellState], *, exempt: bool
    ) -> tuple[set[ShellState], set[_Outcome]]:
        """Return the states in which a loop goes on after its body, and how it is left."""
        outcomes = {one for state in states for one in self._run(body, state, exempt=exempt)}
        again = {after for kind, after in outcomes if kind in ("next", "continue")}
        left = {
            ("next" if kind == "break" else kind, after) for kind, after in outcomes if kind not in ("next", "continue")
        }
        return again, left

    def _expanded(self, command: Simple, state: ShellState) -> set[ShellState]:
        """Return the states after the substitutions of a command, with the status of the last one."""
        ahead = {state}
        words = (*command.words, *command.assigned, *command.redirected)
        is_shown = not command.redirected and [word.value for word in words[:1]] in (["echo"], ["printf"])
        for word in words:
            ahead = {looked(word, one, is_shown=is_shown) for one in ahead}
        if not any(word.scripts for word in words):
            return ahead
        inherits = self._shell != "bash"
        for script in (script for word in words for script in word.scripts):
            ahead = {
                after
                for before in ahead
                for after in self._separate(
                    self._run(script, inside(before)._replace(errexit=before.errexit and inherits), exempt=False),
                    before,
                )
            }
        return ahead

    def _simple(self, command: Simple, state: ShellState, exempt: bool) -> set[_Outcome]:
        words = [word.value for word in command.words]
        if not words:
            has_script = any(word.scripts for word in (*command.assigned, *command.redirected))
            state = with_assigned(command.assigned, state)
            return {self._checked(state if has_script else state._replace(status=0), exempt=exempt)}
        before, state = state, state._replace(status=0)
        if command is self._target and (self._always or not state.failed):
            self._runs += 1
            state = state._replace(failed=True, status=1, noticed=state.noticed or state.is_off)
            if self._change == "||":
                return {("exit", state)}
            return {("exit", state._replace(trap=())) if words[0] == "exec" else self._checked(state, exempt=exempt)}
        name = words[0]
        if name in DECLARE:
            state = with_assigned(command.words[1:], state)
        if name in self._functions:
            return self._call(self._functions[name], before, exempt=exempt)
        match name:
            case "exit" | "return":
                return {(name, one) for one in self._left(command.words[1:], before)}
            case "break" | "continue":
                if words[1:] not in ([], ["1"]):
                    raise NotUnderstood
                return {(name, state)}
            case "set" | "trap" if name == self._change:
                return {("next", state)}
            case "set":
                after = with_settings(words[1:], state)
                if exempt and after.errexit:
                    raise NotUnderstood  # bash lets it have an effect here, dash does not
                return {("next", after)}
            case "trap":
                return {("next", with_trap(words[1:], state))}
            case "exec":
                return {("exit", state._replace(trap=())) if words[1:] else ("next", state)}
            case "wait":
                if self._change == "wait" and "t" in (elements(command.words[1:], state) or ""):
                    return {("exit", state._replace(status=1, pending=False))}
                return {self._checked(waited(command.words[1:], state), exempt=exempt)}
            case "kill" | "fg" | "disown" | "jobs" if state.pending:
                return {("next", state._replace(noticed=True))}
            case "." | "source" if not QUIET_SOURCES.fullmatch(words[1] or "" if words[1:] else ""):
                raise NotUnderstood
            case "shopt":
                raise NotUnderstood
            case "false":
                return {self._checked(state._replace(status=1), exempt=exempt)}
        may_fail = MAY_FAIL.fullmatch(name or "") or (self._always and not HARMLESS.fullmatch(name or "$"))
        statuses = (0, 1) if may_fail else (0,)
        return {self._checked(state._replace(status=status), exempt=exempt) for status in statuses}

    def _call(self, body: Compound, state: ShellState, *, exempt: bool) -> set[_Outcome]:
        self._calls += 1
        if self._calls > _DEEPEST_CALLS:
            raise NotUnderstood
        outcomes = self._command(body, state, exempt=exempt)
        self._calls -= 1
        if any(kind in ("break", "continue") for kind, _ in outcomes):
            raise NotUnderstood
        return {(kind, after) if kind == "exit" else self._checked(after, exempt=exempt) for kind, after in outcomes}

    def _left(self, words: tuple[ShellWord, ...], state: ShellState) -> set[ShellState]:
        """Return the states in which `exit` or `return` leaves."""
        if not words:
            return {state._replace(noticed=True)} if self._in_trap else {state}
        if words[0].text in ("$?", '"$?"'):
            return {state}
        value = words[0].value
        if value is None or not value.isdecimal():
            return {state._replace(status=0), state._replace(status=1)}
        return {state._replace(status=int(bool(int(value) % 256)))}
