"""What a command starts: a Python file or module, directly, through launchers and wrappers, or in a text of a shell."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from smspec.source.frozen import dataclass, replace

if TYPE_CHECKING:
    from smspec.script.shell import AndOrList, ShellWord, Simple

_CODE = "/opt/ml/code/"
_PYTHON = re.compile(r"(?:/\S*/)?python(?:3(?:\.\d+)?)?")
_FLAGS = re.compile(r"-[bBdOqRsSuv]+")
_WITH_A_VALUE = re.compile(r"-[bBdOqRsSuv]*([WX])(.*)")
_LAUNCHING_MODULES = ("accelerate.commands.launch", "torch.distributed.run")
_LAUNCHERS = frozenset({"accelerate", "deepspeed", "torchrun"})
_RUNNERS = frozenset({"mpiexec", "mpirun"})
_WRAPPERS = frozenset(
    {"catchsegv", "chrt", "dumb-init", "env", "exec", "ionice", "nice", "nohup", "nsys", "numactl", "prlimit"}
    | {"setsid", "stdbuf", "taskset", "time", "timeout", "tini", "unbuffer"}
)
"""Programs that start the one after their options, in the same directory and with the same variables."""

_ENVIRONMENTS = frozenset({"conda", "mamba", "micromamba", "pdm", "pipenv", "poetry", "rye", "uv"})
"""Tools whose `run` starts a command with a Python of theirs."""

_OF_ENVIRONMENTS = re.compile(r"--(?:no-capture-output|live-stream|frozen|locked|no-sync|no-project|quiet)|-[qv]")
_OF_ENVIRONMENTS_WITH_A_VALUE = re.compile(r"-[np]|--(?:name|prefix|with|python|extra|group)")
_SHELLS = frozenset({"bash", "dash", "sh"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=.*", re.DOTALL)
_VALUE = re.compile(r"\d[\d.]*[smhd]?|0x[0-9a-fA-F]+|[\d,!+-]+|all|profile|launch")
_MOVES = ("PATH", "PYTHONHOME")
"""Variables that decide which program a name starts."""

_QUIET = frozenset(
    {":", "date", "df", "echo", "free", "hostname", "ls", "mkdir", "nvidia-smi", "printf", "pwd", "true", "ulimit"}
)
_RUNS_OTHERS = frozenset({".", "eval", "source"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedByCommand:
    """``name``: the file, by its path in the source, or the module; ``by``: the word for Python, or its launcher.

    ``arguments``: what it gets, each word with its index in the command; None if that is unknown. ``variables``: those
    that the command sets. ``is_text``: it is in the text of a shell, so that words after the command do not reach it.
    ``searches``: the command may change which modules there are.
    """

    name: str
    by: str
    is_module: bool = False
    arguments: tuple[tuple[str, int], ...] | None = ()
    variables: frozenset[str] = frozenset()
    is_text: bool = False
    searches: bool = False


def started_by_command(words: Sequence[str]) -> StartedByCommand | None:
    """Return what a command starts; None if that is no Python program, or unknown."""
    found = _started(list(enumerate(words)), frozenset())
    if found is None or found.is_module:
        return found
    return replace(found, name=found.name.removeprefix(_CODE))


def started_by_script(text: str, name: str) -> StartedByCommand | None:
    """Return what every run of a shell script starts in the directory of the source; ``name``: its path there.

    None if that is no Python program, or unknown. `PASSED` stands for the arguments of the script.
    """
    # A shell drops a backslash at the end of a file.
    whole = re.sub(r"(?<!\\)((?:\\\\)*)\\\Z", r"\1", text)
    found = _in_text(whole, 0, frozenset(), depth=posixpath.normpath(name).count("/"))
    return found if found is None or found.is_module else replace(found, name=found.name.removeprefix(_CODE))


_SETTINGS = frozenset({"BASH_ENV", "ENV", "PATH", "SHELLOPTS"})
"""Variables with which a shell starts other programs, or in another way."""


def program_index(words: Sequence[str]) -> int | None:
    """Return where the program is that the wrappers of a command start; None if that is not certain."""
    inner = _unwrapped(list(enumerate(words)))
    if inner is None or inner[1] & _SETTINGS:
        return None
    rest, _ = inner
    return rest[0][0] if rest else None


_Words = list[tuple[int, str]]
_PROGRAM = re.compile(r"(?:/\S*/)?[\w.-]+")


def _started(words: _Words, variables: frozenset[str]) -> StartedByCommand | None:
    inner = _unwrapped(words)
    if inner is None:
        return None
    words, more = inner
    variables |= more
    if [word for _, word in words[1:2]] == ["run"] and words[0][1] in _ENVIRONMENTS:
        found = _started(_in_environment(words), variables)
        return None if found is None else replace(found, by=words[0][1], searches=True)
    if words and words[0][1].rpartition("/")[2] in _SHELLS and _PROGRAM.fullmatch(words[0][1]):
        return _by_shell(words, variables)
    found = _program(words)
    if found is None or variables & {*_MOVES}:
        return None
    return replace(found, variables=variables, searches="PYTHONPATH" in variables)


def _in_environment(words: _Words) -> _Words:
    """Return the command after `conda run` and the like; nothing if an option is not known."""
    at = 2
    while at < len(words) and words[at][1].startswith("-"):
        option, _, value = words[at][1].partition("=")
        if _OF_ENVIRONMENTS.fullmatch(words[at][1]):
            at += 1
        elif _OF_ENVIRONMENTS_WITH_A_VALUE.fullmatch(option):
            at += 1 if value else 2
        else:
            return []
    rest = words[at:]
    # uv starts a Python file itself.
    is_file = words[0][1] == "uv" and bool(rest) and rest[0][1].endswith(".py")
    return [(rest[0][0], "python"), *rest] if is_file else rest


def _unwrapped(words: _Words) -> tuple[_Words, frozenset[str]] | None:
    """Return the command behind all wrappers, and the variables that they set; None if either is not certain."""
    variables: frozenset[str] = frozenset()
    while words and (name := words[0][1].rpartition("/")[2]) in _WRAPPERS | _RUNNERS:
        inner = _wrapped(words, is_env=name == "env", is_mpi=name in _RUNNERS)
        if inner is None:
            return None
        words, more = inner
        variables |= more
    return words, variables


def _wrapped(words: _Words, *, is_env: bool, is_mpi: bool) -> tuple[_Words, frozenset[str]] | None:
    """Return the command that a wrapper starts, and the variables that it sets; None if either is not certain."""
    variables: set[str] = set()
    is_value_allowed = False
    for at, (_, word) in enumerate(words[1:], 1):
        name = word.rpartition("/")[2]
        if _PYTHON.fullmatch(word) or name in _LAUNCHERS | _WRAPPERS | _RUNNERS | _SHELLS:
            return words[at:], frozenset(variables)
        assignment = _ASSIGNMENT.fullmatch(word)
        if word.startswith("-") and len(word) > 1:
            if is_env and word not in ("-", "--", "-v"):
                return None  # it removes variables, changes the directory, or splits the next word
            is_value_allowed = not is_env
        elif assignment is not None and (is_env or is_mpi):
            variables.add(assignment[1])
            is_value_allowed = is_mpi
        elif is_value_allowed or (_VALUE.fullmatch(word) and not is_env):
            is_value_allowed = is_mpi
        else:
            return (words[at:], frozenset(variables)) if "/" in word else None
    return None


def _program(words: _Words) -> StartedByCommand | None:
    if not words:
        return None
    first = words[0][1]
    name, index = first.rpartition("/")[2], 1
    if _PYTHON.fullmatch(first):
        while index < len(words) and (flag := _flag(words[index][1])):
            index += flag
        if [word for _, word in words[index : index + 1]] != ["-m"]:
            is_file = bool(words[index:]) and words[index][1].endswith(".py")
            return _found(words, index) if is_file else None
        index += 2
        if words[index - 1 :] and words[index - 1][1] not in _LAUNCHING_MODULES:
            return _found(words, index - 1, is_module=True)
    elif name == "accelerate" and [word for _, word in words[1:2]] == ["launch"]:
        index = 2
    elif name not in ("torchrun", "deepspeed"):
        return None
    given = [word for _, word in words]
    added = ("--local_rank=0",) if name == "deepspeed" and "--no_local_rank" not in given else ()
    for at in range(index, len(words)):
        if given[at] in ("-m", "--module"):
            is_named = bool(given[at + 1 :]) and not given[at + 1].startswith("-")
            return _found(words, at + 1, is_module=True, added=added) if is_named else None
        if given[at].endswith(".py"):
            return _found(words, at, added=added)
    return None


def _flag(word: str) -> int:
    """Return how many words an option of Python takes that changes neither what it runs, nor where modules are."""
    if _FLAGS.fullmatch(word):
        return 1
    match = _WITH_A_VALUE.fullmatch(word)
    return 0 if match is None else 1 if match[2] else 2


def _found(words: _Words, at: int, *, is_module: bool = False, added: tuple[str, ...] = ()) -> StartedByCommand:
    index, name = words[at]
    arguments = (*((word, index) for word in added), *((word, place) for place, word in words[at + 1 :]))
    return StartedByCommand(name=name, by=words[0][1], is_module=is_module, arguments=arguments)


def _by_shell(words: _Words, variables: frozenset[str]) -> StartedByCommand | None:
    """Return what the text after `-c` certainly starts: what comes before it changes nothing that the program sees."""
    options, rest = [], words[1:]
    while rest and re.fullmatch(r"-[A-Za-z]+", rest[0][1]):
        options.append(rest.pop(0)[1])
        if options[-1].endswith("o") and rest:
            rest.pop(0)
    if not rest or not any("c" in option for option in options):
        return None
    index, text = rest[0]
    found = _in_text(text, index, variables)
    if found is not None and any(word == PASSED for word, _ in found.arguments or ()):
        return replace(found, arguments=None)
    return found


def _in_text(text: str, index: int, variables: frozenset[str], *, depth: int = 0) -> StartedByCommand | None:
    """Return what a text starts; ``depth``: how many directories below the source its script is."""
    # Imported late: few commands have the text of a shell.
    from smspec.script.shell import NotUnderstood
    from smspec.script.shell.grammar import shell_script

    try:
        items = shell_script(text)
    except NotUnderstood:
        return None
    if any(levels != depth for item in items for levels in _levels_up(item)):
        return None
    found = _in_items(items, index, variables)
    return None if found is None else replace(found, is_text=True)


_HOME = re.compile(
    r"[\"']?\$\([\"']?dirname [\"']*(?:\$0|\$\{0\}|\$\{?BASH_SOURCE(?:\[0\])?\}?)[\"']*\)[\"']?((?:/\.\.)*)/?[\"']?"
)
"""The directory of the script or one above it, as it is written."""


def _levels_up(item: AndOrList) -> Iterator[int]:
    """Yield how many levels above the directory of the script each `cd` goes that names it."""
    for command, _ in _commands(item):
        if command is not None and len(command.words) == 2 and (home := _HOME.fullmatch(command.words[1].text)):
            yield home[1].count("..")


def _in_items(items: Sequence[AndOrList], index: int, variables: frozenset[str]) -> StartedByCommand | None:
    searches = False
    for at, item in enumerate(items):
        for number, (command, is_alone) in enumerate(_commands(item)):
            if command is None or item.is_background:
                return None
            values = [word.value for word in command.words]
            names = frozenset(word.text.partition("=")[0] for word in command.assigned)
            quiet = _quiet(command, values)
            if quiet is not None:
                if not is_alone or (number < len(item.operators) and item.operators[number] != "&&"):
                    return None
                variables |= names if not values else quiet
                searches |= _installs(values)
                continue
            inner = [(index, _word(word)) for word in command.words]
            found = _started(inner, variables | names)
            if found is None or _UNKNOWN in found.name or _may_go_on(items[at:], number):
                return None
            words = found.arguments or ()
            is_known = found.arguments is not None and all(word == PASSED or _UNKNOWN not in word for word, _ in words)
            return replace(
                found,
                arguments=words if is_known else None,
                searches=found.searches or searches,
            )
    return None


_UNKNOWN = "\0"
PASSED = "\0@"
"""All arguments of the shell script."""


def _word(word: ShellWord) -> str:
    return PASSED if word.text == '"$@"' else _UNKNOWN if word.value is None else word.value


def _commands(item: AndOrList) -> Iterator[tuple[Simple | None, bool]]:
    """Yield the first command of each pipeline, None if it is not a simple one; and whether it is alone there."""
    from smspec.script.shell import Simple  # imported late, as above

    for pipeline in item.pipelines:
        first, *others = pipeline.commands
        yield first if isinstance(first, Simple) and not pipeline.is_negated else None, not others


def _quiet(command: Simple, values: list[str | None]) -> frozenset[str] | None:
    """Return the variables that a command sets which does nothing else; None for any other command."""
    if not values:
        return frozenset()
    name, rest = values[0] or "", values[1:]
    if name == "export":
        return frozenset(word.text.partition("=")[0] for word in command.words[1:])
    is_home = len(rest) == 1 and _HOME.fullmatch(command.words[1].text) is not None
    is_here = name == "cd" and (rest in ([_CODE], [_CODE.rstrip("/")], ["."]) or is_home)
    is_set = name == "set" and all(re.fullmatch(r"-[euxo]+|pipefail|errexit|nounset|xtrace", one or "") for one in rest)
    is_quiet = name in _QUIET and all(word.text.startswith("&") or "/dev/" in word.text for word in command.redirected)
    return frozenset() if is_here or is_set or is_quiet or _installs(values) else None


def _installs(values: list[str | None]) -> bool:
    words = [value or "" for value in values]
    if words and _PYTHON.fullmatch(words[0]) and words[1:2] == ["-m"]:
        words = words[2:]
    return words[:1] in (["pip"], ["pip3"]) and words[1:2] == ["install"]


def _may_go_on(items: Sequence[AndOrList], number: int) -> bool:
    """Return whether a job may do its work after the program has failed: the first item has it, in a pipeline."""
    first, *others = items
    # Imported late, as above.
    from smspec.script.shell import simple_commands

    if "||" in first.operators[number:]:
        rest = simple_commands((replace(first, pipelines=first.pipelines[number + 1 :]),))
        if len(first.pipelines) > number + 2 or [[word.value for word in one.words] for one in rest] != [["exit", "1"]]:
            return True
    names = [(one.words[0].value or _UNKNOWN) if one.words else "" for one in simple_commands(tuple(others))]
    return any(
        _UNKNOWN in name
        or name in _RUNS_OTHERS
        or _PYTHON.fullmatch(name)
        or name.rpartition("/")[2] in _LAUNCHERS | _RUNNERS | _SHELLS | _WRAPPERS
        or name.endswith((".py", ".sh"))
        for name in names
    )
