"""Find the commands of a shell script whose failure the script hides: it ends with 0 although the command failed.

A script is followed as if one command fails the first time that it runs, and all others succeed, along all paths: a
condition may be true or false. A command is reported only if every path on which it runs ends with 0, and if the script
does not look at its status, with `||`, `if`, `$?`, or a trap. Where the status only decides whether a loop tries again,
the command fails each time. Tests run such scripts in real shells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from smspec.script.shell import AndOrList, Compound, NotUnderstood, ShellFunction, Simple, simple_commands
from smspec.script.shell.grammar import shell_script
from smspec.script.shell.retries import retries
from smspec.script.shell.statuses import DECLARE, MOST_STEPS, Shell, Walk
from smspec.source.frozen import dataclass

Cure = Literal["errexit", "pipefail", "wait", "each", "tries", "trap", "setting", "declaration", "check", "output"]

MOST_CANDIDATES = 40

_BEFORE = re.compile(
    r"builtin|catchsegv|command|env|exec|ionice|nice|nohup|numactl|stdbuf|sudo|time|timeout|unbuffer|xvfb-run"
)
"""Commands that run the one after their options."""
_RUNNERS = frozenset({"conda", "mamba", "micromamba", "pdm", "pipenv", "poetry", "rye", "uv"})
"""Tools whose `run` runs a command in an environment."""
_SHELLS = frozenset({"bash", "dash", "sh"})
_LAUNCHERS = frozenset({"deepspeed", "horovodrun", "mpirun", "torchrun"})
_OF_SETUP = frozenset({"aws", "cp", "curl", "make", "mv", "tar", "unzip", "wget"})
_PYTHON = re.compile(r"python(?:[23](?:\.\d+)?)?")
_OPTION_OF_PYTHON = re.compile(r"-(?=.)[bBdEiIOPqRsSuvx]*(?:([mWX])(.*))?")
_PYTHON_IN_A_VARIABLE = re.compile(r"\"?\$(?:python3?|\{python3?(?::?-[^{}]*)?\})\"?", re.IGNORECASE)
_BASHISMS = re.compile(
    r"\[\[|(?<!\$)\(\(|&>|\|&|[<>]\(|<<<|\$'|PIPESTATUS|\b(?:function|source|declare|typeset|let|time)\b|\{\w+\.\.\w+\}"
)
"""What only some shells that are called `sh` read as bash does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostStatus:
    """``command``: its name; ``cure``: the change that is certain to help, ``output`` if it is none of the others."""

    command: str
    line: int
    cure: Cure


def has_bashisms(text: str) -> bool:
    return _BASHISMS.search(text) is not None


def lost_statuses(text: str, shell: Shell, *, errexit: bool = False, pipefail: bool = False) -> list[LostStatus]:
    """Return what a script hides, in its order; nothing if the script is not understood."""
    if shell == "sh" and has_bashisms(text):
        return []
    try:
        items = shell_script(text)
        return [*_lost(items, shell, errexit=errexit, pipefail=pipefail)]
    except (NotUnderstood, RecursionError):
        return []


def _lost(items: tuple[AndOrList, ...], shell: Shell, *, errexit: bool, pipefail: bool) -> Iterator[LostStatus]:
    commands = simple_commands(items)
    plain = {id(command) for item in items if (command := _alone(item)) is not None}
    behind = {id(command) for item in _background(items) for command in simple_commands((item,))}
    teed = {id(command): name for command, name in _teed(items)}
    candidates = [(command, name) for command in commands if (name := _name(command) or teed.get(id(command), ""))]
    is_served = any(name not in _OF_SETUP and name != "pip" and id(one) not in behind for one, name in candidates)
    last = next((one for one, name in reversed(candidates) if name not in _OF_SETUP and name != "pip"), None)
    steps: list[int] = []
    for command, name in candidates[:MOST_CANDIDATES]:
        in_background = id(command) in behind
        if (name in _OF_SETUP and id(command) not in plain) or (in_background and name == "pip"):
            continue

        def is_lost(
            target: Simple = command,
            is_service: bool = in_background and is_served,
            change: str = "",
            *,
            errexit: bool = errexit,
            pipefail: bool = pipefail,
            always: bool = False,
        ) -> bool:
            walk = Walk(items, shell, target, change, always=always)
            loses = walk.loses(errexit=errexit, pipefail=pipefail, is_service=is_service)
            steps.append(walk.steps)
            return loses

        if sum(steps) > MOST_STEPS:
            return  # what is known by then is enough
        if not is_lost():
            is_tried = command is last and not in_background and retries(items)
            if is_tried and is_lost(always=True):
                yield LostStatus(command=name, line=command.line, cure="tries")
            continue
        cure: Cure = "output"
        if not is_lost(errexit=True):
            cure = "errexit"
        elif not is_lost(errexit=True, pipefail=True):
            cure = "pipefail"
        elif in_background:
            cure = "wait" if is_lost(change="wait") else "each"
        elif not is_lost(change="trap", errexit=True, pipefail=True):
            cure = "trap"
        elif not is_lost(change="set", errexit=True, pipefail=True):
            cure = "setting"
        elif any(command in simple_commands(script) for script in _declared(commands)):
            cure = "declaration"
        elif not is_lost(change="||"):
            cure = "check"
        yield LostStatus(command=name, line=command.line, cure=cure)


def _alone(item: AndOrList) -> Simple | None:
    """Return the command of an item that has only this one, in the foreground."""
    commands = item.pipelines[0].commands
    is_alone = len(item.pipelines) == 1 and len(commands) == 1 and not item.is_background
    return commands[0] if is_alone and isinstance(commands[0], Simple) else None


def _declared(commands: Iterable[Simple]) -> Iterator[tuple[AndOrList, ...]]:
    for command in commands:
        if command.words and command.words[0].value in DECLARE:
            yield from (script for word in command.words for script in word.scripts)


def _background(items: tuple[AndOrList, ...]) -> Iterator[AndOrList]:
    for item in items:
        if item.is_background:
            yield item
        for command in (command for pipeline in item.pipelines for command in pipeline.commands):
            body = command.body if isinstance(command, ShellFunction) else command
            if isinstance(body, Compound):
                yield from (inner for part in body.parts for inner in _background(part))


def _name(command: Simple) -> str:
    """Return the name of a command whose failure matters; empty for all others."""
    words = ["python" if _PYTHON_IN_A_VARIABLE.fullmatch(word.text) else word.value for word in command.words]
    while words and _BEFORE.fullmatch(words[0] or ""):
        del words[0]
        while words and re.match(r"-|[A-Za-z_]\w*=|\d+(?:\.\d+)?[smhd]?\Z", words[0] or ""):
            del words[0]
    if not words or words[0] is None:
        return ""
    if words[0].rpartition("/")[2] in _RUNNERS and "run" in words:
        del words[: _after_run(words)]
        if not words:
            return ""
        if (words[0] or "").endswith(".py"):
            return "python"
    name, rest = (words[0] or "").rpartition("/")[2], words[1:]
    if _PYTHON.fullmatch(name):
        module: str | None = ""
        while rest and module == "" and (option := _OPTION_OF_PYTHON.fullmatch(rest[0] or "")):
            del rest[0]
            value = option[2] or (rest.pop(0) if option[1] and rest else None)
            module = value if option[1] == "m" else ""
        if module == "pip":
            name = "pip"
        elif module == "" and (not rest or (rest[0] is not None and not rest[0].endswith(".py"))):
            return ""
    if name in ("pip", "pip3"):
        return "pip" if "install" in rest else ""
    if name == "accelerate":
        return name if "launch" in rest else ""
    return name if name in _LAUNCHERS or name in _OF_SETUP or _PYTHON.fullmatch(name) else ""


def _after_run(words: list[str | None]) -> int:
    """Return where the command of `uv run` and the like begins: each option before it may have one value."""
    at = words.index("run") + 1
    while at < len(words) and (words[at] or "").startswith("-"):
        at += 1
        name = (words[at] or "").rpartition("/")[2] if at < len(words) else ""
        if at + 1 < len(words) and not (_PYTHON.fullmatch(name) or name in _LAUNCHERS or name.endswith(".py")):
            at += not (words[at] or "").startswith("-")
    return at


def _teed(items: tuple[AndOrList, ...]) -> Iterator[tuple[Simple, str]]:
    """Yield (command, name) of the scripts of a shell that write to `tee`: their status, not their output, matters."""
    for pipeline in (pipeline for item in items for pipeline in item.pipelines):
        first, last = pipeline.commands[0], pipeline.commands[-1]
        if (
            isinstance(first, Simple)
            and isinstance(last, Simple)
            and first.words
            and last.words
            and last.words[0].value == "tee"
        ):
            words = [word.value or "" for word in first.words]
            script = next((word for word in words[words[0].rpartition("/")[2] in _SHELLS :] if word[:1] != "-"), "")
            if script.endswith(".sh") and script in words[:3]:
                yield first, script
        for command in pipeline.commands:
            body = command.body if isinstance(command, ShellFunction) else command
            if isinstance(body, Compound):
                yield from (found for part in body.parts for found in _teed(part))
