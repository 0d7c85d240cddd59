"""Find the command of a shell script that certainly runs on some host, and never ends with status 0 there.

A script is followed in its order. What a condition decides is not certain, unless it compares the name of the host:
then some hosts take one way, and some the other. By Ray's source, `ray start --block` ends only with status 1, when a
process of Ray has ended; on a worker, one does when the head is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.script.shell import AndOrList, Compound, NotUnderstood, ShellFunction, Simple, simple_commands
from smspec.script.shell.grammar import shell_script
from smspec.script.shell.lost_statuses import has_bashisms
from smspec.script.shell.statuses import DECLARE, MAY_FAIL, QUIET_SOURCES, Shell, Walk
from smspec.source.frozen import dataclass

_BEFORE = frozenset({"command", "env", "exec", "nice", "nohup", "numactl", "stdbuf", "sudo"})
_IDLE = frozenset({":", "date", "df", "echo", "free", "nvidia-smi", "printf", "ps", "sleep", "true"})
CURRENT = re.compile(r"\b(?:SM_CURRENT_HOST|current_host|(?:get)?hostname|HOSTNAME)\b")
_COMPARISON = re.compile(r"(\S+)\s+(==?|!=|-eq|-ne|-gt)\s+(\S+)")
_ASKS = frozenset({"--help", "-h", "--version", "-v", "-V", "--version_tb"})
_HOST = re.compile(r"algo-(\d+)")
DEEPEST_CALLS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EndlessCommand:
    """``command``: its words that matter; ``fails``: it ends with a failure. ``everywhere``: it runs on every host."""

    command: str
    line: int
    fails: bool
    everywhere: bool
    is_server: bool = False


def endless_server(words: list[str]) -> tuple[str, bool] | None:
    """Return a server that a command keeps in the foreground, and whether its end is a failure; None for others."""
    name, *rest = [words[0].rpartition("/")[2], *words[1:]] if words else [""]
    if name == "ray" and rest[:1] == ["start"] and "--block" in rest:
        is_head = "--head" in rest
        return ("ray start --head --block" if is_head else "ray start --block"), not is_head
    if _ASKS.intersection(rest):
        return None
    if re.fullmatch(r"python[\d.]*", name) and rest[:2] == ["-m", "http.server"]:
        return f"{name} -m http.server", False
    if (name == "dask-scheduler" or (name == "dask" and rest[:1] == ["scheduler"])) and not _has(
        rest, "--idle-timeout"
    ):
        return ("dask scheduler" if name == "dask" else name), False
    is_redis = name == "redis-server" and (not rest or rest[0].startswith("--")) and not _has(rest, "--daemonize")
    is_redis = is_redis and not _has(rest, "--test-memory") and not _has(rest, "--check-system")
    if is_redis or (name == "tensorboard" and _has(rest, "--logdir") and not _has(rest, "--inspect")):
        return name, False
    if name == "mlflow" and rest[:1] in (["server"], ["ui"]):
        return f"mlflow {rest[0]}", False
    return None


def _has(words: list[str], option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in words)


def endless_command(
    text: str, shell: Shell, hosts: int, *, errexit: bool = False, pipefail: bool = False
) -> EndlessCommand | None:
    """Return the first such command of a script; None if it has none, or is not understood."""
    if shell == "sh" and has_bashisms(text):
        return None
    try:
        items = shell_script(text)
        follower = _Follower(items, hosts)
        follower.follow(items)
        if follower.found is None:
            return None
        command, found = follower.found
        is_lost = found.fails and not Walk(items, shell, command).fails(errexit=errexit, pipefail=pipefail)
        return None if is_lost else found
    except (NotUnderstood, RecursionError):
        return None


class _Follower:
    """Follows a script on the hosts that reach each line, up to the first endless command, which becomes ``found``."""

    def __init__(self, items: tuple[AndOrList, ...], hosts: int) -> None:
        self.found: tuple[Simple, EndlessCommand] | None = None
        self._hosts = hosts
        self._everywhere = True
        self._is_doubtful = False
        self._functions: dict[str, Compound] = {}
        self._calls = 0
        self._of_host = _names_of_the_host(simple_commands(items))

    def follow(self, items: tuple[AndOrList, ...]) -> bool:
        """Follow commands that some host certainly runs. Return whether it certainly runs what comes after them."""
        return all(self._item(item) and not self._is_doubtful and self.found is None for item in items)

    def _item(self, item: AndOrList) -> bool:
        commands = [command for pipeline in item.pipelines for command in pipeline.commands]
        if item.is_background:
            self._is_doubtful = True  # it may end what waits
        elif item.operators in (("&&",), ("||",), ("&&", "||")) and self._splits(
            (AndOrList(pipelines=item.pipelines[:1]),)
        ):
            ways = [(AndOrList(pipelines=(pipeline,)),) for pipeline in item.pipelines[1:]]
            return self._on_some_hosts(*ways, *([()] if len(ways) == 1 else []))
        elif "||" in item.operators or any(map(_is_question, commands[:-1])):
            self._doubt((item,))
        else:
            return all(self._command(command, is_piped=len(item.pipelines) < len(commands)) for command in commands)
        return True

    def _command(self, command: Simple | Compound | ShellFunction, *, is_piped: bool) -> bool:
        if isinstance(command, ShellFunction):
            self._functions[command.name] = command.body
        elif isinstance(command, Simple):
            return self._simple(command, is_piped=is_piped)
        elif command.kind == "group" and not is_piped:
            return self.follow(command.parts[0])
        elif command.kind == "if" and len(command.parts) in (2, 3) and self._splits(command.parts[0]):
            return self._on_some_hosts(command.parts[1], command.parts[2] if len(command.parts) > 2 else ())
        elif command.kind == "case" and self._hosts > 1 and command.is_exhaustive and len(command.parts) > 1:
            self._doubt(*command.parts[:-1])
            if self._is_host(command.expanded[0].text):
                return self._on_some_hosts(command.parts[-1], ())
            self._doubt(command.parts[-1])
        elif command.kind == "while" and all(map(_is_idle, command.parts)) and _is_true(command.parts[0]):
            self._find(simple_commands(command.parts[0])[0], "while true")
        else:
            self._doubt(*command.parts)
        return True

    def _on_some_hosts(self, *ways: tuple[AndOrList, ...]) -> bool:
        """Follow the ways that hosts take; what comes after them is run by the hosts of those that do not end."""
        before, self._everywhere = self._everywhere, False
        goes_on = [self.follow(way) for way in ways]
        self._everywhere = before and all(goes_on)
        return any(goes_on)

    def _simple(self, command: Simple, *, is_piped: bool) -> bool:
        words = [word.value for word in command.words]
        is_last = words[:1] == ["exec"] and len(words) > 1
        while words and words[0] in _BEFORE:
            del words[0]
            while words and re.match(r"-|[A-Za-z_]\w*=", words[0] or ""):
                del words[0]
        if not words:
            return not is_last
        name, rest = words[0], words[1:]
        if name in self._functions:
            self._calls += 1
            if self._calls > DEEPEST_CALLS:
                raise NotUnderstood
            return self.follow((self._functions[name].parts[0]) if self._functions[name].kind == "group" else ())
        if name in ("exit", "return"):
            return is_piped
        if name in (".", "source") and not QUIET_SOURCES.fullmatch(rest[0] or "" if rest else ""):
            self._is_doubtful = True
        elif server := endless_server([word or "" for word in words]):
            self._find(command, server[0], fails=server[1], is_server=True)
        elif name == "sleep" and rest[:1] in (["infinity"], ["inf"]):
            self._find(command, f"sleep {rest[0]}")
        elif name == "tail" and "/dev/null" in rest and any(re.fullmatch(r"-[fF]", one or "") for one in rest):
            self._find(command, "tail -f /dev/null")
        return not is_last

    def _find(self, command: Simple, shown: str, *, fails: bool = False, is_server: bool = False) -> None:
        if self.found is None and not self._is_doubtful:
            found = EndlessCommand(
                command=shown, line=command.line, fails=fails, everywhere=self._everywhere, is_server=is_server
            )
            self.found = command, found

    def _doubt(self, *parts: tuple[AndOrList, ...]) -> None:
        """Note that a script may end in commands that only some runs reach, unless it ends with a failure."""
        for command in (command for part in parts for command in simple_commands(part)):
            words = [word.value for word in command.words] or [""]
            body = self._functions.get(words[0] or "")
            if body is not None and self._calls < DEEPEST_CALLS:
                self._calls += 1
                self._doubt(*body.parts)
            fails = words[0] == "exit" and len(words) > 1 and (words[1] or "0").strip("0") != ""
            self._is_doubtful |= words[0] in (".", "exec", "exit", "kill", "return", "source", None) and not fails

    def _splits(self, condition: tuple[AndOrList, ...]) -> bool:
        """Return whether a condition is true on some hosts, and false on others."""
        if self._hosts < 2 or len(condition) != 1 or len(condition[0].pipelines) != 1:
            return False
        (command, *more) = condition[0].pipelines[0].commands
        if more or isinstance(command, ShellFunction):
            return False
        text = " ".join(word.text for word in (command.words if isinstance(command, Simple) else command.expanded))
        if isinstance(command, Simple) and (text[:2] == "[ " or text[:5] == "test "):
            text = text.removeprefix("test ").removeprefix("[ ").removesuffix(" ]")
        elif isinstance(command, Simple) or command.kind != "test":
            return False
        match = _COMPARISON.fullmatch(text.strip())
        if match is None or self._is_host(match[1]) == self._is_host(match[3]):
            return False
        other = (match[3] if self._is_host(match[1]) else match[1]).strip("\"'")
        if host := _HOST.fullmatch(other):
            return 0 < int(host[1]) <= self._hosts
        return int(other) < (1 if match[2] == "-gt" else self._hosts) if other.isdecimal() else "$" in other

    def _is_host(self, text: str) -> bool:
        """Return whether a word differs from host to host."""
        return bool(CURRENT.search(text)) or any(name in self._of_host for name in re.findall(r"[A-Za-z_]\w*", text))


def _names_of_the_host(commands: Iterable[Simple]) -> set[str]:
    """Return the variables whose values all come from what differs from host to host."""
    values: dict[str, list[str]] = {}
    for command in commands:
        declared = command.words[1:] if command.words and command.words[0].value in DECLARE else ()
        for word in (*command.assigned, *declared):
            name, is_set, value = word.text.partition("=")
            if is_set:
                values.setdefault(name, []).append(value)
    found: set[str] = set()
    grown = -1
    while grown != len(found):
        grown = len(found)
        current = re.compile("|".join((CURRENT.pattern, *(rf"\$\{{?{re.escape(name)}\b" for name in found))))
        found |= {name for name, all_of_them in values.items() if all(map(current.search, all_of_them))}
    return found


def _is_question(command: Simple | Compound | ShellFunction) -> bool:
    """Return whether the status of a command is an answer."""
    if not isinstance(command, Simple):
        return True
    return bool(command.words) and MAY_FAIL.fullmatch(command.words[0].value or "[") is not None


def _is_true(condition: tuple[AndOrList, ...]) -> bool:
    commands = simple_commands(condition)
    return len(commands) == 1 and [word.value for word in commands[0].words] in (["true"], [":"])


def _is_idle(items: tuple[AndOrList, ...]) -> bool:
    """Return whether commands only wait and print."""
    simple = all(isinstance(one, Simple) for item in items for each in item.pipelines for one in each.commands)
    return simple and all(one.words and one.words[0].value in _IDLE for one in simple_commands(items))
