"""Find the line of a Python script that some host certainly reaches, and that keeps it from ending well.

That is a loop which only sleeps and prints, a server such as `ray start --block`, or a wait for a signal, or for an
event that nothing sets. As in shell scripts, what a condition decides is not certain, unless it compares the name or
the rank of the host.
"""

from __future__ import annotations

import ast
import re

from smspec.script.shell.endless_commands import CURRENT, DEEPEST_CALLS, EndlessCommand, endless_server

_ENDED_FROM_OUTSIDE = re.compile(
    r"\bThread\(|\bTimer\(|\bsignal\.(?!pause\()|\b_exit\(|\bos\.kill|\basyncio\b|\batexit\b"
)
_RUNS = re.compile(r"(?:subprocess\.)?(?:run|call|check_call|check_output)|os\.system")
_EVENTS = frozenset({"threading.Event()", "multiprocessing.Event()"})
_EXITS = frozenset({"exit", "quit", "sys.exit"})
_IDLE = re.compile(r"(?:time\.)?sleep|print|(?:logging|logger|log)\.\w+")


def endless_wait(text: str, hosts: int) -> EndlessCommand | None:
    """Return the first such line of a script; None if it has none."""
    if _ENDED_FROM_OUTSIDE.search(text):
        return None
    try:
        tree = ast.parse(text)
        follower = _Follower(tree, hosts)
        follower.follow(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return follower.found


class _Follower:
    """Follows a script on the hosts that reach each line, up to the first endless one, which becomes ``found``."""

    def __init__(self, tree: ast.Module, hosts: int) -> None:
        self.found: EndlessCommand | None = None
        self._hosts = hosts
        self._everywhere = True
        self._is_doubtful = False
        self._calls = 0
        self._functions = {node.name: node.body for node in tree.body if isinstance(node, ast.FunctionDef)}
        self._of_host: set[str] = set()
        assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and len(node.targets) == 1]
        named = [(node.targets[0], node.value) for node in assigned]
        self._events = {one.id for one, value in named if isinstance(one, ast.Name) and ast.unparse(value) in _EVENTS}
        self._uses = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        for _ in range(3):  # a rank of a host of a variable
            for node in assigned:
                if isinstance(node.targets[0], ast.Name) and self._is_host(node.value):
                    self._of_host.add(node.targets[0].id)
        for node in assigned:
            if isinstance(node.targets[0], ast.Name) and not self._is_host(node.value):
                self._of_host.discard(node.targets[0].id)

    def follow(self, body: list[ast.stmt]) -> bool:
        """Follow statements that some host certainly runs. Return whether it certainly runs what comes after them."""
        return all(self._statement(node) and not self._is_doubtful and self.found is None for node in body)

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Return() | ast.Raise():
                return False
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                return True
            case ast.With():
                return self.follow(node.body)
            case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call):
                return self._call(call)
            case ast.If() if ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__"):
                return self.follow(node.body)
            case ast.If() if self._splits(node.test):
                before, self._everywhere = self._everywhere, False
                goes_on = [self.follow(node.body), self.follow(node.orelse)]
                self._everywhere = before and all(goes_on)
                return any(goes_on)
            case ast.While(test=ast.Constant(value=value)) if value and all(map(_is_idle, node.body)):
                self._find("while True", node.lineno)
                return False
        self._doubt(node)
        return True

    def _call(self, call: ast.Call) -> bool:
        name = ast.unparse(call.func)
        if name in _EXITS:
            return False
        if name in self._functions and self._calls < DEEPEST_CALLS:
            self._calls += 1
            return self.follow(self._functions[name])
        if name == "signal.pause" or self._is_unset(call):
            self._find(f"{name}()", call.lineno)
            return False
        words = _words(call) if _RUNS.fullmatch(name) else []
        is_ended = "&" in words or any(keyword.arg == "timeout" for keyword in call.keywords)
        server = None if is_ended else endless_server(words if words[:1] != ["-m"] else ["python", *words])
        if server is not None:
            checks = name.rpartition(".")[2].startswith("check_") or any(
                keyword.arg == "check" and getattr(keyword.value, "value", False) is True for keyword in call.keywords
            )
            shown, fails = server
            if checks or not fails:
                self._find(shown, call.lineno, fails=fails, is_server=True)
        return True

    def _is_unset(self, call: ast.Call) -> bool:
        """Return whether a call waits without a limit for an event that nothing else knows."""
        match call:
            case ast.Call(func=ast.Attribute(attr="wait", value=event), args=[], keywords=[]):
                if isinstance(event, ast.Name):
                    return self._uses.count(event.id) == 2 and event.id in self._events
                return ast.unparse(event) in _EVENTS
        return False

    def _find(self, shown: str, line: int, *, fails: bool = False, is_server: bool = False) -> None:
        if self.found is None and not self._is_doubtful:
            self.found = EndlessCommand(
                command=shown, line=line, fails=fails, everywhere=self._everywhere, is_server=is_server
            )

    def _doubt(self, node: ast.AST) -> None:
        """Note that a script may end in code that only some runs reach."""
        for one in ast.walk(node):
            if isinstance(one, ast.Return | ast.Raise):
                self._is_doubtful = True
            elif isinstance(one, ast.Call):
                name = ast.unparse(one.func)
                self._is_doubtful |= name in _EXITS
                if name in self._functions and self._calls < DEEPEST_CALLS:
                    self._calls += 1
                    for statement in self._functions[name]:
                        if not isinstance(statement, ast.Return):
                            self._doubt(statement)

    def _splits(self, test: ast.expr) -> bool:
        """Return whether a condition is true on some hosts, and false on others."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or self._hosts < 2:
            return False
        left, right = test.left, test.comparators[0]
        if not isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Gt) or self._is_host(left) == self._is_host(right):
            return False
        other = right if self._is_host(left) else left
        if not isinstance(other, ast.Constant):
            return not isinstance(test.ops[0], ast.Gt)
        if isinstance(other.value, str):
            match = re.fullmatch(r"algo-(\d+)", other.value)
            return match is not None and 0 < int(match[1]) <= self._hosts
        limit = 1 if isinstance(test.ops[0], ast.Gt) else self._hosts
        return type(other.value) is int and 0 <= other.value < limit

    def _is_host(self, node: ast.expr) -> bool:
        """Return whether a value differs from host to host."""
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        return bool(names & self._of_host or CURRENT.search(ast.unparse(node)))


def _words(call: ast.Call) -> list[str]:
    """Return the words of a command, as far as they are written."""
    command = call.args[0] if call.args else ast.Constant("")
    parts = command.elts if isinstance(command, ast.List | ast.Tuple) else [command]
    texts = [
        ast.unparse(part)[2:-1] if isinstance(part, ast.JoinedStr) else getattr(part, "value", "") for part in parts
    ]
    is_list = len(parts) > 1
    return [word for text in texts if isinstance(text, str) for word in ([text] if is_list else text.split())]


def _is_idle(node: ast.stmt) -> bool:
    if isinstance(node, ast.Pass):
        return True
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return is_call and _IDLE.fullmatch(ast.unparse(node.value.func)) is not None  # type: ignore[attr-defined]
