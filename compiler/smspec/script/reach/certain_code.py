"""The code of a module that runs in every run of a script: its imports, and the functions that it calls.

Next to it, what is less certain: imports that only some runs reach, and how far a module runs before it can change
which modules Python finds; and what a module defines: functions, classes, and the names that it may have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from smspec.script.follow.facts import EXITS, lets_errors_through
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass

Import = ast.Import | ast.ImportFrom
Function = ast.FunctionDef

_HARMLESS_ERRORS = frozenset(
    {"ArithmeticError", "AssertionError", "AttributeError", "EOFError", "FileExistsError", "FileNotFoundError"}
    | {"IOError", "IndexError", "KeyError", "KeyboardInterrupt", "LookupError", "OSError"}
    | {"OverflowError", "PermissionError", "RuntimeError", "StopIteration", "TimeoutError", "TypeError"}
    | {"UnicodeDecodeError", "UnicodeError", "ValueError", "ZeroDivisionError"}
)
"""A handler of these does not catch an import that fails."""

_IMPORTERS = ("importlib.import_module", "__import__", "importlib.__import__")

_IMPORT = r"^[ \t]{indent}(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*\(?([\w, \t\r\n]+)|import[ \t]+([\w., \t]+))"
_INDENTED = _IMPORT.replace("{indent}", "+")
_ANY = _IMPORT.replace("{indent}", "*")

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FINDERS = frozenset({"__import__", "eval", "exec", "getattr", "globals", "locals", "vars"})
"""Functions that may call a definition whose name is not in their arguments."""


TAMPERS = r"\b__path__\b|\bsys\s*\.\s*modules\b|\b__getattr__\b"
_ANY_NAME = re.compile(rf"{TAMPERS}|\b(?:exec|globals|locals|setattr|vars)\b|\bimport\s*\*")
_PLAIN_BASES = frozenset(
    {"object", "abc.ABC", "torch.nn.Module", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset"}
    | {f"{name}.Lightning{kind}" for name in ("lightning", "pytorch_lightning") for kind in ("Module", "DataModule")}
)
"""Classes whose instances are made by `__init__` of the class that is called."""


@dataclass(frozen=True, slots=True)
class NamedImport:
    """A call that imports a module by its written name, such as `importlib.import_module`."""

    name: str
    node: ast.Call


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of something by its full name: a function of the module, or one that it imports."""

    name: str


Event = Import | NamedImport | FunctionCall


class CertainCode:
    """Walk the code of one module. ``is_main``: it is the script itself. ``names``: the full names of imported ones."""

    def __init__(self, *, is_main: bool, names: dict[str, str] | None = None) -> None:
        self.names: dict[str, str] = {} if names is None else names
        self._is_main = is_main
        self._ended = False

    def of_statements(self, statements: list[ast.stmt]) -> Iterator[Event]:
        """Yield what the next statements of the module do in every run, in order."""
        yield from self._block(statements, in_function=False)

    def of_function(self, function: Function) -> Iterator[Event]:
        """Yield what a function does in every call."""
        yield from self._block(function.body, in_function=True)

    def _block(self, body: Iterable[ast.stmt], *, in_function: bool) -> Iterator[Event]:
        for statement in body:
            if self._ended:
                return
            yield from self._statement(statement, in_function=in_function)
            if in_function and not self._ended and _may_return(statement):
                self._ended = True

    def _statement(self, node: ast.stmt, *, in_function: bool) -> Iterator[Event]:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._bind(node)
                yield node
            case ast.ClassDef():
                yield from self._calls(*node.decorator_list, *node.bases)
                yield from self._block(node.body, in_function=False)
            case ast.With():
                yield from self._calls(*(item.context_expr for item in node.items))
                if all(map(self._lets_errors_through, node.items)):
                    yield from self._block(node.body, in_function=in_function)
            case ast.Try():
                if all(map(_is_harmless, node.handlers)):
                    yield from self._block([*node.body, *node.orelse], in_function=in_function)
                else:
                    self._forget(node)
                yield from self._block(node.finalbody, in_function=in_function)
            case ast.If():
                yield from self._calls(node.test)
                if self._is_main and not in_function and _asks_for_main(node.test):
                    yield from self._block(node.body, in_function=in_function)
                else:
                    self._forget(node)
            case ast.For():
                yield from self._calls(node.iter)
                self._forget(node)
            case ast.While():
                self._forget(node)
                is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
                self._ended = is_endless and not any(isinstance(one, ast.Break) for one in ast.walk(node))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.names.pop(node.name, None)
                yield from self._calls(*node.decorator_list)
            case ast.Return() | ast.Raise():
                yield from self._calls(*(part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)))
                self._ended = True
            case ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                if node.value is not None:
                    yield from self._calls(node.value)
            case _:
                self._forget(node)

    def _calls(self, *nodes: ast.expr) -> Iterator[Event]:
        """Yield the relevant calls in expressions that are evaluated as a whole."""
        for node in nodes:
            if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                continue
            if isinstance(node, ast.BoolOp):
                yield from self._calls(node.values[0])
            elif isinstance(node, ast.IfExp):
                yield from self._calls(node.test)
            else:
                parts = [*ast.iter_child_nodes(node)]
                parts = [part.value if isinstance(part, ast.keyword) else part for part in parts]
                yield from self._calls(*(part for part in parts if isinstance(part, ast.expr)))
                if isinstance(node, ast.Call):
                    yield from self._call(node)

    def _call(self, node: ast.Call) -> Iterator[Event]:
        name = self._full_name(node.func)
        if name in EXITS:
            self._ended = True
        elif name in _IMPORTERS and node.args and isinstance(node.args[0], ast.Constant):
            if isinstance(node.args[0].value, str) and len(node.args) == 1 and not node.keywords:
                yield NamedImport(node.args[0].value, node)
        elif isinstance(node.func, ast.Name | ast.Attribute):
            yield FunctionCall(name)

    def _lets_errors_through(self, item: ast.withitem) -> bool:
        node = item.context_expr
        return lets_errors_through(self._full_name(node.func if isinstance(node, ast.Call) else node))

    def _full_name(self, node: ast.expr) -> str:
        """Return the full name of what an expression names; empty for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.names.get(node.id, node.id), *reversed(parts)])

    def _bind(self, node: Import) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                self.names[alias.asname or name] = name
            else:
                above = "." * node.level + (f"{node.module}." if node.module else "")
                self.names[alias.asname or alias.name] = above + alias.name

    def _forget(self, node: ast.stmt) -> None:
        """Forget the names that code which may run binds to something else."""
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
                self.names.pop(one.id, None)


def _is_harmless(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler certainly does not catch an import that fails."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(isinstance(kind, ast.Name) and kind.id in _HARMLESS_ERRORS for kind in kinds)


def _asks_for_main(test: ast.expr) -> bool:
    """Return whether a condition is ``__name__ == "__main__"``."""
    match test:
        case (
            ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")])
            | ast.Compare(left=ast.Constant(value="__main__"), ops=[ast.Eq()], comparators=[ast.Name(id="__name__")])
        ):
            return True
    return False


def _may_return(statement: ast.AST) -> bool:
    """Return whether a statement of a function may leave it."""
    if isinstance(statement, ast.expr | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return isinstance(statement, ast.Return) or any(map(_may_return, ast.iter_child_nodes(statement)))


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


def called_function(tree: ast.Module, text: str, name: str, full_name: Callable[[str], str]) -> ast.FunctionDef | None:
    """Return what a call of a name at the top of a module runs; None if the name may be something else.

    That is its only definition: a function, or `__init__` of a class. ``full_name``: that of what a base class names.
    """
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = [node for node in tree.body if isinstance(node, definitions) and node.name == name]
    if len(found) != 1 or found[0].decorator_list or re.search(rf"\b{re.escape(name)}\s*=[^=]", text):
        return None
    function = _init(tree, text, found[0], full_name) if isinstance(found[0], ast.ClassDef) else found[0]
    if not isinstance(function, ast.FunctionDef):
        return None
    if "yield" in text and any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
        return None
    return function


def _init(tree: ast.Module, text: str, node: ast.ClassDef, full_name: Callable[[str], str]) -> ast.stmt | None:
    """Return `__init__` of a class, or the function that it inherits; None if an instance may be made without it."""
    if node.keywords or re.search(r"\b(?:__new__|__init__\s*=[^=]|__class__)", text):
        return None
    methods = [each for each in node.body if getattr(each, "name", "") == "__init__"]
    bases = [full_name(ast.unparse(base)) for base in node.bases]
    own = [base for base in bases if base not in _PLAIN_BASES]
    above = None
    if len(own) == 1 and "." not in own[0] and own[0] != node.name:
        above = called_function(tree, text, own[0], full_name)
    if own and above is None:
        return None
    if not methods:
        return above if len(bases) == 1 else None
    is_plain = len(methods) == 1 and isinstance(methods[0], ast.FunctionDef) and not methods[0].decorator_list
    return methods[0] if is_plain else None


def may_have(tree: ast.Module | None, text: str, name: str) -> bool:
    """Return whether a module may have a name."""
    from smspec.script.handlers import lacks  # imported late: many scripts have no modules

    return tree is None or not lacks(text, name)


def lacking_names(tree: ast.Module, text: str) -> list[str]:
    """Return the names in `__all__` of a module that nothing in it binds; submodules may have them."""
    values = [node.value for node in tree.body if isinstance(node, ast.Assign) and _is_all(node.targets)]
    if len(values) != 1 or len(re.findall(r"\b__all__\b", text)) != 1 or _ANY_NAME.search(text):
        return []
    if not isinstance(values[0], ast.List | ast.Tuple):
        return []
    names = [node.value if isinstance(node, ast.Constant) else None for node in values[0].elts]
    return [
        name
        for name in names
        if isinstance(name, str) and not re.search(rf"\b{re.escape(name)}\b", _others(text, name))
    ]


def _is_all(targets: list[ast.expr]) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == "__all__"


def _others(text: str, name: str) -> str:
    """Return a text without the strings that are a name."""
    return re.sub(rf"([\"']){re.escape(name)}\1", "", text)


def attributes_of(tree: ast.Module, module: str) -> list[str]:
    """Return the attributes that a file reads of a module that it imports."""
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    found = [node.attr for node in uses if isinstance(node.value, ast.Name) and node.value.id == module]
    return [name for name in found if not name.startswith("__")]


def binds(tree: ast.Module, text: str, name: str, but: ast.stmt) -> bool:
    """Return whether a file may have a name from anything except one statement."""
    from smspec.script.handlers import lacks

    text = re.sub(rf"\b{re.escape(name)}\b", "", text)
    if re.search(TAMPERS, text) or not lacks(text, name):
        return True
    within = set(ast.walk(but))
    return any(
        name in [getattr(node, field, "") for field in ("id", "attr", "name", "asname")]
        and not isinstance(getattr(node, "ctx", None), ast.Load)
        for node in ast.walk(tree)
        if node not in within
    )
