"""Where a shell script looks at the status of a command in order to run it again: a loop that a success leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smspec.script.shell import AndOrList, Command, Compound, ShellFunction, Simple
from smspec.script.shell.children import kept
from smspec.script.shell.state import ShellState

_LEAVES = frozenset({"break", "exit", "return"})
_AGAIN = frozenset({"continue"})
_ALL_LEAVES = _LEAVES | _AGAIN
_LOOPS = frozenset({"for", "until", "while"})
_STATUS_TEST = re.compile(r"\s*\"?\$(?:\{?(\?|[A-Za-z_]\w*)\}?)\"?\s*(-eq|-ne|==?|!=)\s*\"?0\"?\s*")
_FILE_TEST = re.compile(r"(?:^|\s)-[defrs]\s")

HARMLESS = re.compile(
    r":|break|continue|date|df|echo|env|exit|export|free|hostname|local|mkdir|nvidia-smi|printf|pwd|return|rm|set|sleep"
    r"|touch|trap|true|ulimit|unset|wait"
)
"""Commands that do not need what the failed command would have made."""


def retries(items: Sequence[AndOrList]) -> frozenset[int]:
    """Return the identities of the lists and conditions whose status only decides whether a loop tries again."""
    return frozenset(found for body in _bodies(items) for found in _in_body(body))


def status_test(command: Simple | Compound) -> tuple[str, bool] | None:
    """Return what `[ $? -eq 0 ]` and the like test, and whether they ask for a success; None for any other command."""
    if isinstance(command, Compound):
        text = command.expanded[0].text if command.kind == "test" and command.expanded else ""
    else:
        words = [word.text for word in command.words]
        if words[:1] == ["["] and words[-1:] == ["]"]:
            words = ["test", *words[1:-1]]
        text = " ".join(words[1:]) if words[:1] == ["test"] else ""
    match = _STATUS_TEST.fullmatch(text)
    return None if match is None else (match[1], match[2] not in ("-ne", "!="))


def answer(command: Simple | Compound, state: ShellState) -> int | None:
    """Return the status of such a test; None if what it tests is not known."""
    found = status_test(command)
    if found is None:
        return None
    status = state.status if found[0] == "?" else kept(found[0], state)
    return None if status is None else int((status == 0) != found[1])


def tests_the_status(items: Sequence[AndOrList]) -> bool:
    """Return whether a condition has such a test."""
    commands = [item.pipelines[0].commands[0] for item in items]
    return any(status_test(one) is not None for one in commands if not isinstance(one, ShellFunction))


def tests_a_file(items: Sequence[AndOrList]) -> bool:
    """Return whether a condition tests a file: the status of what makes it need not matter."""
    for command in (command for item in items for pipeline in item.pipelines for command in pipeline.commands):
        if isinstance(command, Simple):
            is_test = command.words and command.words[0].value in ("[", "test")
            text = " ".join(word.text for word in command.words) if is_test else ""
        else:
            is_test = isinstance(command, Compound) and command.kind == "test"
            text = command.expanded[0].text if isinstance(command, Compound) and is_test else ""
        if _FILE_TEST.search(text):
            return True
    return False


def leaves(command: Command, names: frozenset[str] = _LEAVES) -> bool:
    """Return whether a command, or the last one of a group, leaves a loop."""
    if isinstance(command, Compound) and command.kind == "group" and command.parts[0]:
        return _ends(command.parts[0], names)
    return isinstance(command, Simple) and bool(command.words) and command.words[0].value in names


def _ends(part: Sequence[AndOrList], names: frozenset[str] = _LEAVES) -> bool:
    return bool(part) and len(part[-1].pipelines) == 1 and leaves(part[-1].pipelines[0].commands[0], names)


def _bodies(items: Sequence[AndOrList]) -> Iterator[tuple[tuple[AndOrList, ...], ...]]:
    """Yield the loops: their conditions, empty for `for`, and their bodies."""
    for command in (command for item in items for pipeline in item.pipelines for command in pipeline.commands):
        body = command.body if isinstance(command, ShellFunction) else command
        if not isinstance(body, Compound):
            continue
        if body.kind in _LOOPS:
            yield ((), *body.parts)[-2:]
            if body.kind != "for" and _succeeds(body.parts[0], is_wanted=body.kind == "until"):
                yield (body.parts[0], ())
        for part in body.parts:
            yield from _bodies(part)


def _succeeds(condition: Sequence[AndOrList], *, is_wanted: bool) -> bool:
    """Return whether a condition, or its negation, is one list that a command decides."""
    if len(condition) != 1 or "||" in condition[0].operators:
        return False
    return condition[0].pipelines[-1].is_negated != is_wanted


def _in_body(loop: tuple[tuple[AndOrList, ...], ...]) -> Iterator[int]:
    condition, body = loop
    if not body:
        yield id(condition)
    yield from _in_items(body, is_left=False)


def _in_items(items: Sequence[AndOrList], *, is_left: bool) -> Iterator[int]:
    """Yield what only decides about another try. ``is_left``: the loop ends after these commands."""
    for at, item in enumerate(items):
        left_after = is_left or any(_ends((later,)) for later in items[at + 1 :])
        last = item.pipelines[-1].commands[0]
        if _is_left_by_success(item) or (item.operators == ("||",) and leaves(last, _AGAIN) and left_after):
            yield id(item)
        for command in (pipeline.commands[0] for pipeline in item.pipelines if len(pipeline.commands) == 1):
            if not isinstance(command, Compound):
                continue
            if command.kind == "group":
                yield from _in_items(command.parts[0], is_left=left_after)
            elif command.kind == "if" and len(command.parts) in (2, 3):
                test, body, *others = command.parts
                negated = len(test) == 1 and test[0].pipelines[-1].is_negated
                asks = status_test(one) if (one := _only(test)) is not None else None
                is_other_way = negated != (asks is not None and not asks[1])
                wanted, other = (_first(others), body) if is_other_way else (body, _first(others))
                if (_ends(wanted) or (_ends(other, _AGAIN) and left_after)) and not _ends(other):
                    yield id(test)
                for part in command.parts[1:]:
                    yield from _in_items(part, is_left=left_after)


def _is_left_by_success(item: AndOrList) -> bool:
    """Return whether a list is `COMMAND && break`, perhaps with something harmless after `||`."""
    for at, pipeline in enumerate(item.pipelines):
        if leaves(pipeline.commands[0]):
            after = any(leaves(later.commands[0]) for later in item.pipelines[at + 1 :])
            return at > 0 and "||" not in item.operators[:at] and not after
    return False


def _first(parts: Sequence[tuple[AndOrList, ...]]) -> tuple[AndOrList, ...]:
    return parts[0] if parts else ()


def _only(condition: Sequence[AndOrList]) -> Simple | Compound | None:
    command = condition[0].pipelines[0].commands[0] if len(condition) == 1 else None
    return None if isinstance(command, ShellFunction) else command


def handles(item: AndOrList, index: int) -> bool:
    """Return whether what follows a pipeline in its list depends on its status on purpose."""
    if "||" in item.operators[index:]:
        return True
    return any(leaves(pipeline.commands[0], _ALL_LEAVES) for pipeline in item.pipelines[index + 1 :])
