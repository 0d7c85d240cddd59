"""The names that a function, a class, or a loop uses, collected in one walk, nested definitions included."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterator
from itertools import takewhile
from typing import Any, Literal

from smspec.script.follow.facts import EXECS, WRITING, WRITING_BEGINNINGS, WRITING_MODULES, lets_errors_through

Ending = Literal["raise", "leave", "exit"]
"""An early end of a block: by an exception, by leaving the function or the loop, or by ending the script."""

LEAVING = (ast.Return, ast.Break, ast.Continue)

_EXITS = ("_exit", "exit", "quit")

_FAILURES = ("Error", "Exception", "Interrupt", "Warning")
"""Suffixes of exception names that fail a job; SystemExit may end it successfully."""

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_BARE = (ast.expr_context, ast.operator, ast.Constant)
"""Nodes without names in them."""

_READS = frozenset({"copy", "get", "index", "items", "keys", "values"})
_READERS = frozenset({"len", "print", "dict", "list"})

Uses = dict[str, "frozenset[str] | None"]
"""Names, each with the attributes if only these are used, else None."""

Imported = tuple["ast.Import | ast.ImportFrom", Uses]
"""An import, and how the code uses the imported names."""


def is_failure(raised: ast.expr | None) -> bool:
    """Return whether an uncaught exception fails the job; a bare `raise` re-raises one."""
    if raised is None:
        return True
    kind = raised.func if isinstance(raised, ast.Call) else raised
    name = kind.attr if isinstance(kind, ast.Attribute) else kind.id if isinstance(kind, ast.Name) else ""
    if name == "SystemExit" and isinstance(raised, ast.Call) and raised.args:
        return isinstance(raised.args[0], ast.Constant) and is_failing(raised.args[0].value)
    return name.endswith(_FAILURES)


def is_failing_exit(node: ast.Call) -> bool:
    """Return whether a call, if it ends the script, ends it with a failure: ``sys.exit(1)``."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in _EXITS or len(node.args) != 1:
        return False
    status = node.args[0]
    if isinstance(status, ast.UnaryOp) and isinstance(status.op, ast.USub):
        status = status.operand
    return isinstance(status, ast.JoinedStr) or (isinstance(status, ast.Constant) and is_failing(status.value))


def is_failing(status: object) -> bool:
    """Return whether an exit status is a failure. The system keeps the last eight bits of a number."""
    if isinstance(status, int):
        return status % 256 != 0
    return status is not None and status is not ...


class Code:
    """The names of a piece of code; names are dotted as they are written, without other expressions.

    ``size`` counts nodes. ``free`` are names from outside, ``shared`` those of `global` and `nonlocal`. ``names`` are
    all that may be reached, ``raised`` those of exceptions, and ``changed`` those that are not only read;
    ``attributes`` are those of anything, ``imports`` what it imports. ``stored`` names are set or deleted in the piece
    itself, not in a nested function; ``yields`` and ``returns`` likewise. ``writes``: a call in it may make a file.
    """

    def __init__(self) -> None:
        self.size = 0
        self.free: Uses = {}
        self.shared: set[str] = set()
        self.names: set[str] = set()
        self.raised: set[str] = set()
        self.changed: set[str] = set()
        self.stored: set[str] = set()
        self.imports: list[Imported] = []
        self.attributes: set[str] = set()
        self.yields = False
        self.returns = False
        self.writes = False

    def use(self, name: str, attributes: frozenset[str] | None) -> None:
        """Add a use of a name: of some attributes, or of its value."""
        before = self.free.get(name, frozenset())
        self.free[name] = None if before is None or attributes is None else before | attributes

    def take_in(self, inner: Code) -> None:
        """Add the names of a nested definition."""
        self.size += inner.size
        for name, attributes in inner.free.items():
            self.use(name, attributes)
        self.imports += inner.imports
        self.shared |= inner.shared
        self.names |= inner.names
        self.raised |= inner.raised
        self.changed |= inner.changed
        self.attributes |= inner.attributes
        self.writes |= inner.writes


class Codes:
    """The codes of a script, each computed once."""

    def __init__(self) -> None:
        self._made: dict[ast.AST, Code] = {}

    def of(self, node: ast.AST) -> Code:
        """Return the code of a function, a class, or a statement."""
        found = self._made.get(node)
        if found is None:
            found = self._made[node] = _Walk(self, node).code
        return found


class _Walk:
    """One walk; at its end it is known which names are only read, and which cannot do harm."""

    def __init__(self, codes: Codes, root: ast.AST) -> None:
        self.code = Code()
        self._codes = codes
        self._names: list[ast.Name | ast.Attribute] = []
        self._imports: list[ast.Import | ast.ImportFrom] = []
        self._read: set[int] = set()
        self._harmless: set[int] = set()
        self._through: dict[int, str] = {}
        self._go(root)
        for name in self._names:
            self._name(name)
        for imported in self._imports:
            uses: Uses = {name: self.code.free.get(name, frozenset()) for name in _bound(imported)}
            self.code.imports.append((imported, uses))
        if isinstance(root, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            own = _own(root, self.code)
            self.code.free = {name: used for name, used in self.code.free.items() if name not in own}
            own -= {name for imported in self._imports for name in _bound(imported)}
            for names in (self.code.names, self.code.raised, self.code.changed):
                names -= {name for name in names if name.partition(".")[0] in own}

    def _go(self, root: ast.AST) -> None:
        code = self.code
        rest: list[ast.AST] = [root]
        while rest:
            node = rest.pop()
            if isinstance(node, SCOPES) and node is not root:
                if not isinstance(node, ast.Lambda):
                    code.stored.add(node.name)
                code.take_in(self._codes.of(node))
                continue
            code.size += 1
            look = _LOOKS.get(type(node))
            if look is not None:
                look(self, node)
            for field in node._fields:
                part = getattr(node, field, None)
                if isinstance(part, list):
                    rest += [one for one in part if isinstance(one, ast.AST)]
                elif isinstance(part, ast.AST) and not isinstance(part, _BARE):
                    rest.append(part)

    def _name(self, node: ast.Name | ast.Attribute) -> None:
        name = dotted(node)
        is_harmless = id(node) in self._harmless
        if not is_harmless:
            self.code.names.add(name)
        if isinstance(node, ast.Name):
            through = self._through.get(id(node))
            self.code.use(name, None if through is None else frozenset({through}))
            if not isinstance(node.ctx, ast.Load):
                self.code.stored.add(name)
        elif not is_harmless:
            self.code.attributes.add(node.attr)
        if id(node) not in self._read:
            self.code.changed.add(name)

    def _plain(self, node: ast.Name) -> None:
        self._names.append(node)

    def _attribute(self, node: ast.Attribute) -> None:
        self._names.append(node)
        if isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
            self._through[id(node.value)] = node.attr

    def _call(self, node: ast.Call) -> None:
        self.code.writes = self.code.writes or may_write_file(node)
        if is_failing_exit(node) or has_names_of_its_own(node):
            self._harmless.add(id(node.func))
        if isinstance(node.func, ast.Attribute) and node.func.attr in _READS:
            self._read.add(id(node.func.value))
        elif isinstance(node.func, ast.Name) and node.func.id in _READERS and len(node.args) == 1:
            self._read.add(id(node.args[0]))

    def _subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read.add(id(node.value))

    def _compare(self, node: ast.Compare) -> None:
        if len(node.comparators) == 1:
            self._read.add(id(node.comparators[0]))
            if isinstance(node.ops[0], ast.In | ast.NotIn):
                self._harmless.add(id(node.comparators[0]))

    def _raise(self, node: ast.Raise) -> None:
        if node.exc is not None and not is_failure(node.exc):
            self.code.raised.add(dotted(node.exc.func if isinstance(node.exc, ast.Call) else node.exc))

    def _share(self, node: ast.Global | ast.Nonlocal) -> None:
        self.code.shared.update(node.names)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._imports.append(node)
        self.code.stored.update(_bound(node))

    def _bind(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        self.code.stored.update(filter(None, [node.name]))

    def _bind_rest(self, node: ast.MatchMapping) -> None:
        self.code.stored.update(filter(None, [node.rest]))

    def _yield(self, _: ast.AST) -> None:
        self.code.yields = True

    def _return(self, _: ast.AST) -> None:
        self.code.returns = True


_LOOKS: dict[type[ast.AST], Callable[[_Walk, Any], None]] = {
    ast.Attribute: _Walk._attribute,
    ast.Call: _Walk._call,
    ast.Compare: _Walk._compare,
    ast.MatchMapping: _Walk._bind_rest,
    ast.Name: _Walk._plain,
    ast.Raise: _Walk._raise,
    ast.Return: _Walk._return,
    ast.Subscript: _Walk._subscript,
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), _Walk._bind),
    **dict.fromkeys((ast.Global, ast.Nonlocal), _Walk._share),
    **dict.fromkeys((ast.Import, ast.ImportFrom), _Walk._import),
    **dict.fromkeys((ast.Yield, ast.YieldFrom), _Walk._yield),
}


def _bound(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [alias.asname or alias.name.partition(".")[0] for alias in node.names]


def _own(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, code: Code) -> set[str]:
    """Return the parameters and local variables of a function."""
    args = node.args
    given = (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg)))
    variables = set() if isinstance(node, ast.Lambda) else code.stored - code.shared
    return {parameter.arg for parameter in given} | variables


def has_names_of_its_own(node: ast.Call) -> bool:
    """Return whether code is run with only the names that are passed to it: ``exec(text, {"x": 1})``."""
    return (
        isinstance(node.func, ast.Name)
        and node.func.id in ("eval", "exec")
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Dict)
    )


def may_write_file(node: ast.Call) -> bool:
    """Return whether a call has the name of one that makes a file, or a mode for it."""
    name = dotted(node.func) or getattr(node.func, "attr", "")
    last = name.rpartition(".")[2]
    if last == "open":
        modes = [*node.args[:2], *(word.value for word in node.keywords if word.arg == "mode")]
        written = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
        return any(re.fullmatch(r"[rwxabtU+]*[wxa+][rwxabtU+]*", mode) for mode in written)
    return name.startswith(WRITING_MODULES) or last in WRITING or last.startswith(WRITING_BEGINNINGS)


def dotted(node: ast.expr) -> str:
    """Return a name with its attributes as it is written; empty for any other expression."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(attributes)]) if isinstance(node, ast.Name) else ""


def absolute(source: str, package: str) -> str | None:
    """Return the full name after ``from`` in a module of ``package``; None if there are too few parent packages."""
    level = len(source) - len(source.lstrip("."))
    if level == 0:
        return source
    above = package.split(".") if package else []
    if level > len(above):
        return None
    return ".".join(filter(None, [*above[: len(above) - level + 1], source[level:]]))


_GIVES = ast.Yield | ast.YieldFrom


def own_parts(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the parts of a function without those of the functions and classes in it."""
    rest: list[ast.AST] = [*function.body]
    while rest:
        node = rest.pop()
        yield node
        if not isinstance(node, SCOPES):
            rest += ast.iter_child_nodes(node)


def may_suppress(function: ast.FunctionDef) -> bool:
    """Return whether a context manager may suppress an exception: a generator, or else `__exit__` of a class."""
    parts = list(own_parts(function))
    if any(isinstance(part, _GIVES) for part in parts):
        return any(isinstance(part, ast.Try | ast.With) and _may_catch(part) for part in parts)
    returns = [part.value for part in parts if isinstance(part, ast.Return) and part.value is not None]
    is_false = all(isinstance(value, ast.Constant) and not value.value for value in returns)
    return not is_false or any(isinstance(part, ast.Raise) or _is_exit(part) for part in parts)


def _may_catch(node: ast.Try | ast.With) -> bool:
    """Return whether a statement may suppress what is raised at a `yield` in it."""
    if not any(isinstance(part, _GIVES) for part in ast.walk(node)):
        return False
    if isinstance(node, ast.With):
        called = [getattr(item.context_expr, "func", item.context_expr) for item in node.items]
        return not all(lets_errors_through(ast.unparse(one)) for one in called)
    return bool(node.handlers) or _replaces_errors(node.finalbody)


def _replaces_errors(final: list[ast.stmt]) -> bool:
    """Return whether a `finally` may go on as if nothing had been raised, or end the script in its own way."""
    leaves = ast.Return | ast.Break | ast.Continue | ast.Raise
    return any(isinstance(part, leaves) or _is_exit(part) for statement in final for part in ast.walk(statement))


def _is_exit(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("exit", "_exit", "quit")


_HARMLESS_ERRORS = frozenset(
    {"ArithmeticError", "AssertionError", "AttributeError", "EOFError", "FileExistsError", "FileNotFoundError"}
    | {"IOError", "IndexError", "KeyError", "KeyboardInterrupt", "LookupError", "OSError"}
    | {"OverflowError", "PermissionError", "RuntimeError", "StopIteration", "TimeoutError", "TypeError"}
    | {"UnicodeDecodeError", "UnicodeError", "ValueError", "ZeroDivisionError"}
)
"""A handler of these does not catch an import that fails."""

_BINDS = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def before_errors(node: ast.Try) -> list[ast.stmt]:
    """Return the statements of a `try` that run before it goes on after another error than that of an import."""
    others = [one for one in node.handlers if not _always_raises(one)]
    if _replaces_errors(node.finalbody) or not all(_catches_only(one, _HARMLESS_ERRORS) for one in others):
        return []
    if all(_catches_only(one, {"KeyboardInterrupt"}) for one in others):
        return [*node.body, *node.orelse]
    return list(takewhile(lambda one: isinstance(one, _BINDS), node.body))


def _always_raises(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler does nothing but raise an exception that fails the job, and print or log before."""
    *before, last = handler.body
    is_quiet = all(isinstance(one, ast.Expr | ast.Assign) and not may_end_well(one) for one in before)
    return is_quiet and isinstance(last, ast.Raise) and is_failure(last.exc)


def may_end_well(node: ast.AST) -> bool:
    """Return whether a statement may end the script, and not certainly with a failure; definitions in it do not."""
    if isinstance(node, SCOPES):
        return False
    if isinstance(node, ast.Raise) and not is_failure(node.exc):
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return kind is not None and ast.unparse(kind) == "SystemExit"
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if f"os.{name}" in EXECS or (_is_exit(node) and not is_failing_exit(node)):
            return True
    return any(map(may_end_well, ast.iter_child_nodes(node)))


def _catches_only(handler: ast.ExceptHandler, names: Container[str]) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(isinstance(kind, ast.Name) and kind.id in names for kind in kinds)
