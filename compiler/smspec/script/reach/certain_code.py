"""The code of a module that runs in every run of a script: its imports, and the functions that it calls.

Next to it, what is less certain: imports that only some runs reach, and how far a module runs before it can change
which modules Python finds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from smspec.script.follow.code import before_errors, may_end_well
from smspec.script.follow.facts import ENDING_METHODS, EXITS, TAKERS, lets_errors_through
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass

Import = ast.Import | ast.ImportFrom
Function = ast.FunctionDef

_IMPORTERS = ("importlib.import_module", "__import__", "importlib.__import__")

_IMPORT = r"^[ \t]{indent}(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*\(?([\w, \t\r\n]+)|import[ \t]+([\w., \t]+))"
_INDENTED = _IMPORT.replace("{indent}", "+")
_ANY = _IMPORT.replace("{indent}", "*")

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FINDERS = frozenset({"__import__", "eval", "exec", "getattr", "globals", "locals", "vars"})
"""Functions that may call a definition whose name is not in their arguments."""


TAMPERS = r"\b__path__\b|\bsys\s*\.\s*modules\b|\b__getattr__\b"


UNKNOWN = "?"
"""The full name of a local name that is none of another module."""

_INSTANCE = r"([\w.]+)\(\)"


@dataclass(frozen=True, slots=True)
class NamedImport:
    """A call that imports a module by its written name, such as `importlib.import_module`."""

    name: str
    node: ast.Call


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of something by its full name: a function of the module, or one that it imports.

    ``arguments``: the full names of those by position. ``is_consumed``: the first item of its result is taken.
    """

    name: str
    arguments: tuple[str, ...] = ()
    is_consumed: bool = False


Event = Import | NamedImport | FunctionCall


class CertainCode:
    """Walk the code of one module. ``is_main``: it is the script itself. ``names``: the full names of imported ones.

    ``contexts``: answers a question of `Calls` about a context manager, or a name.
    ``has_ended``: it may have ended the script. ``has_exited``: it has, or raised an exception.
    """

    def __init__(
        self,
        *,
        is_main: bool,
        names: dict[str, str] | None = None,
        contexts: Callable[[str, str], bool] = lambda *_: False,
    ) -> None:
        self.names: dict[str, str] = {} if names is None else names
        self._is_main = is_main
        self._contexts = contexts
        self.has_exited = self.has_ended = False
        self._gives = False
        self._is_in_class = False
        self._ended = False

    def of_statements(self, statements: list[ast.stmt]) -> Iterator[Event]:
        """Yield what the next statements of the module do in every run, in order."""
        yield from self._block(statements, in_function=False)

    def of_function(self, function: Function) -> Iterator[Event]:
        """Yield what a function does in every call, a generator until its first item."""
        self._gives = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(function))
        yield from self._block(function.body, in_function=True)

    def exit(self) -> None:
        """Record that what follows does not run."""
        self._ended = self.has_exited = self.has_ended = True

    def _block(self, body: Iterable[ast.stmt], *, in_function: bool) -> Iterator[Event]:
        for statement in body:
            if self._ended:
                return
            yield from self._statement(statement, in_function=in_function)
            if in_function and not self._ended and _may_leave(statement, gives=self._gives):
                self._ended = True

    def _statement(self, node: ast.stmt, *, in_function: bool) -> Iterator[Event]:
        match node:
            case ast.Import() | ast.ImportFrom():
                self.names |= _bound(node)
                yield node
            case ast.ClassDef():
                yield from self._calls(*node.decorator_list, *node.bases)
                before, is_inner = dict(self.names), self._is_in_class
                self._is_in_class = True
                yield from self._block(node.body, in_function=False)
                self._is_in_class = is_inner
                self.names.clear()
                self.names |= before
                self._define(node.name, in_function=in_function)
            case ast.With():
                yield from self._with(node, in_function=in_function)
            case ast.Try():
                certain = before_errors(node)
                yield from self._block(certain, in_function=in_function)
                if len(certain) < len(node.body) + len(node.orelse):
                    self._skip(node)
                yield from self._block(node.finalbody, in_function=in_function)
            case ast.If():
                yield from self._calls(node.test)
                if self._is_main and not in_function and _asks_for_main(node.test):
                    yield from self._block(node.body, in_function=in_function)
                elif in_function or self._is_main or not _asks_for_main(node.test):
                    self._skip(node)
            case ast.For():
                yield from self._calls(node.iter)
                yield from self._taken(node.iter)
                self._skip(node)
            case ast.While():
                self._skip(node)
                is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
                self._ended |= is_endless and not any(isinstance(one, ast.Break) for one in ast.walk(node))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(node.name, in_function=in_function)
                yield from self._calls(*node.decorator_list)
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Name | ast.Attribute):
                        yield FunctionCall(self._full_name(decorator), (f"{node.name}@",))
            case ast.Return() | ast.Raise():
                yield from self._calls(*(part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)))
                self._ended = True
                self.has_exited |= isinstance(node, ast.Raise)
            case ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                if node.value is not None:
                    yield from self._calls(node.value)
                self._assign(node)
            case _:
                self._skip(node)

    def _with(self, node: ast.With, *, in_function: bool) -> Iterator[Event]:
        """Yield what a `with` does: entering its context managers, and its body if no error in it is suppressed."""
        yield from self._calls(*(item.context_expr for item in node.items))
        goes_through = True
        for item in node.items:
            is_call = isinstance(item.context_expr, ast.Call)
            name = self._full_name(
                item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
            )
            whole = re.fullmatch(_INSTANCE, name)
            kind = name if is_call else whole[1] if whole else ""
            if kind:
                yield FunctionCall(kind, is_consumed=True)
                yield FunctionCall(f"{kind}().__enter__")
            is_own = bool(kind) and self._contexts("lets_errors_through", kind)
            goes_through &= is_own or lets_errors_through(name.removesuffix("()"))
            if item.optional_vars is not None:
                self._forget(item.optional_vars)
                is_itself = is_own and self._contexts("enters_itself", kind)
                if is_itself and isinstance(item.optional_vars, ast.Name):
                    self.names[item.optional_vars.id] = f"{kind}()"
        if goes_through:
            yield from self._block(node.body, in_function=in_function)
        else:
            self._skip(node)

    def _calls(self, *nodes: ast.expr) -> Iterator[Event]:
        """Yield the relevant calls in expressions that are evaluated as a whole."""
        for node in nodes:
            if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
                yield from self._calls(node.generators[0].iter)
                yield from self._taken(node.generators[0].iter)
            elif isinstance(node, ast.GeneratorExp):
                yield from self._calls(node.generators[0].iter)
            elif isinstance(node, ast.BoolOp | ast.IfExp):
                first, *others = node.values if isinstance(node, ast.BoolOp) else (node.test, node.body, node.orelse)
                yield from self._calls(first)
                for other in others:
                    self._skip(other)
            elif not isinstance(node, ast.Lambda):
                parts = [*ast.iter_child_nodes(node)]
                parts = [part.value if isinstance(part, ast.keyword) else part for part in parts]
                yield from self._calls(*(part for part in parts if isinstance(part, ast.expr)))
                if isinstance(node, ast.Call):
                    yield from self._call(node)
                elif isinstance(node, ast.YieldFrom):
                    yield from self._taken(node.value)

    def _taken(self, node: ast.expr) -> Iterator[Event]:
        """Yield what taking the first item of a value runs, if it is the result of a call."""
        name = f"{self._full_name(node.func)}()" if isinstance(node, ast.Call) else self._full_name(node)
        whole = re.fullmatch(_INSTANCE, name)
        if whole is not None:
            yield FunctionCall(whole[1], is_consumed=True)

    def _call(self, node: ast.Call) -> Iterator[Event]:
        name = self._full_name(node.func)
        if name in EXITS or name.rpartition(".")[2] in ENDING_METHODS:
            self.exit()
        elif name in _IMPORTERS and node.args and isinstance(node.args[0], ast.Constant):
            if isinstance(node.args[0].value, str) and len(node.args) == 1 and not node.keywords:
                yield NamedImport(node.args[0].value, node)
        elif name in TAKERS and node.args:
            yield from self._taken(node.args[0])
        elif isinstance(node.func, ast.Name | ast.Attribute) and name:
            is_whole = not any(isinstance(one, ast.Starred) for one in node.args)
            yield FunctionCall(name, tuple(map(self._full_name, node.args)) if is_whole else ())

    def _full_name(self, node: ast.expr) -> str:
        """Return the full name of what an expression names, or an instance that it makes; empty for all else."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            owner = self._full_name(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        if isinstance(node, ast.Call):
            name = self._full_name(node.func)
            if name.endswith(")"):  # an instance may return anything
                return name if isinstance(node.func, ast.Name) and node.func.id == "super" else ""
            return name and f"{name}()"
        return ""

    def _assign(self, node: ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        """Remember which class or function a name stands for."""
        if isinstance(node, ast.Expr) or node.value is None:
            return
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        name = "" if isinstance(node, ast.AugAssign) else self._full_name(node.value)
        for target in targets:
            self._forget(target)
            if isinstance(target, ast.Name) and name:
                self.names[target.id] = name

    def _define(self, name: str, *, in_function: bool) -> None:
        """Bind a name to a definition: calls of one in a function or class are not followed."""
        self.names.pop(name, None)
        if in_function or self._is_in_class:
            self.names[name] = UNKNOWN

    def _skip(self, node: ast.AST) -> None:
        """Pass over code that only some runs reach; one may end there, without a failure."""
        self._forget(node)
        names = {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in ast.walk(node)}
        if may_end_well(node) or any(self._contexts("ends_well", name) for name in names):
            self.exit()

    def _forget(self, node: ast.AST) -> None:
        """Forget the names that code which may run binds to something else."""
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
                self.names[one.id] = UNKNOWN
            elif isinstance(one, _Definition):
                self.names[one.name] = UNKNOWN
            elif isinstance(one, Import):
                self.names |= {name: UNKNOWN for name, full in _bound(one) if self.names.get(name, name) != full}


def _bound(node: Import) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds, and what they stand for."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or name, name
        else:
            above = "." * node.level + (f"{node.module}." if node.module else "")
            yield alias.asname or alias.name, above + alias.name


def _asks_for_main(test: ast.expr) -> bool:
    """Return whether a condition is ``__name__ == "__main__"``."""
    match test:
        case (
            ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")])
            | ast.Compare(left=ast.Constant(value="__main__"), ops=[ast.Eq()], comparators=[ast.Name(id="__name__")])
        ):
            return True
    return False


def _may_leave(statement: ast.AST, *, gives: bool) -> bool:
    """Return whether a statement of a function may leave it, for good or, if it ``gives`` any, to give an item."""
    if isinstance(statement, _Definition | ast.Lambda) or (isinstance(statement, ast.expr) and not gives):
        return False
    return isinstance(statement, ast.Return | ast.Yield | ast.YieldFrom) or any(
        _may_leave(part, gives=gives) for part in ast.iter_child_nodes(statement)
    )


def doubtful_imports(text: str, *, all_of_them: bool = False) -> Iterator[str]:
    """Yield the names that indented imports may import, as written; ``all_of_them``: those of the other imports, too.

    More names than there are do no harm: they are looked up in the source.
    """
    for match in re.finditer(_ANY if all_of_them else _INDENTED, text, re.MULTILINE):
        module, names, modules = match.groups()
        if modules is not None:
            yield from re.findall(r"[.\w]+", modules)
        else:
            yield module
            dot = "" if module.endswith(".") else "."
            yield from (f"{module}{dot}{name}" for name in re.findall(r"\w+", names))


def may_be_set(texts: Iterable[SourceText], module: str, name: str, place: Span) -> bool:
    """Return whether a text may set a name of another module before the import at ``place`` takes it."""
    last = re.escape(module.rpartition(".")[2])
    for text in texts:
        aliases = "|".join((last, *re.findall(rf"\b{last}[ \t]+as[ \t]+(\w+)", text.text)))
        owner = rf"(?:\b(?:{aliases})|\bmodules\s*\[[^]\n]*\]|\bimport_module\s*\([^)\n]*\))"
        sets = (
            rf"{owner}\s*\.\s*{re.escape(name)}\b(?:\s*:[^=\n]+|[^=\n(]*,[^=\n(]*)?\s*=(?!=)|{owner}\s*\.\s*__dict__\b"
            rf"|\bvars\s*\(\s*{owner}|\bsetattr\s*\([^,\n]*,\s*(?:[\"']{re.escape(name)}[\"']|(?![\"'\s]))"
        )
        for match in re.finditer(sets, text.text):
            begin = text.text.rfind("\n", 0, match.start()) + 1
            is_at_top = place.column == 1 and not text.text[begin].isspace()
            if text.name != place.file or not is_at_top or text.text.count("\n", 0, begin) + 1 <= place.line:
                return True
    return False


def early_statements(text: str, tree: ast.Module, words: str, imported: Iterable[str] = ()) -> int:
    """Return how many statements at the beginning of a module certainly do not what ``words``, a pattern, stand for.

    A definition whose text has one of them, or that uses such a definition, may do so when a statement names it;
    ``imported``: the names of such definitions in other modules.
    """
    changes = _changing(text, words)
    carriers = carriers_of(text, tree, words, imported)

    def acts(node: ast.stmt) -> bool:
        """Return whether a statement may do so when it is executed; a definition does so only through what it runs."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defaults = [*node.args.defaults, *(part for part in node.args.kw_defaults if part)]
            is_wrapped = bool(node.decorator_list) and (node.name in carriers or changes(node))
            return is_wrapped or any(_uses(part, carriers) for part in (*node.decorator_list, *defaults))
        if isinstance(node, ast.ClassDef):
            outside = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
            is_wrapped = bool(node.decorator_list) and node.name in carriers
            return is_wrapped or any(_uses(part, carriers) for part in outside) or any(map(acts, node.body))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return False
        return changes(node) or _uses(node, carriers)

    return next((count for count, node in enumerate(tree.body) if acts(node)), len(tree.body))


def _changing(text: str, words: str) -> Callable[[ast.stmt], bool]:
    lines = re.split(r"\r\n|\r|\n", text)
    return lambda node: re.search(words, "\n".join(lines[node.lineno - 1 : node.end_lineno])) is not None


def carriers_of(text: str, tree: ast.Module, words: str, imported: Iterable[str] = ()) -> set[str]:
    """Return the names of the definitions that may do so when they are used, those of other modules included."""
    changes = _changing(text, words)
    definitions = [node for node in tree.body if isinstance(node, _Definition)]
    carriers = {node.name for node in definitions if changes(node)} | set(imported)
    if imported:
        names = (alias for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names)
        carriers |= {alias.asname for alias in names if alias.asname and alias.name in carriers}
    grown = -1
    while grown != len(carriers):
        grown = len(carriers)
        carriers |= {node.name for node in definitions if node.name not in carriers and _uses(node, carriers)}
    return carriers


def _uses(tree: ast.AST, carriers: set[str]) -> bool:
    """Return whether code names one of some definitions, or may find it otherwise."""
    if not carriers:
        return False
    found = carriers | _FINDERS
    return any(
        (isinstance(node, ast.Name) and node.id in found) or (isinstance(node, ast.Attribute) and node.attr in carriers)
        for node in ast.walk(tree)
    )
