"""What a program may change before it imports a module: an import in a process of its own then proves nothing.

Read from the text, without running it: the script as far as the line of the import, and the modules that it names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from smspec.proof.observation import Raised
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass

_ANY = re.compile(
    r"\baddsitedir\b|\bsys\.(?:path|modules|meta_path|path_hooks|__dict__)\b|\bsys\s+as\b|[=(]\s*sys\b(?!\.)"
    r"|\bfrom\s+sys\s+import\b[^\n]*(?:\*|\b(?:path|modules|meta_path|path_hooks)\b)"
    r"|\b(?:import_module|spec_from_file_location|run_path|run_module)\b|(?<![.\w])(?:exec|eval|__import__)\s*\("
    r"|[\"']sys[\"']"
)
"""A file with one of these may change where modules are found, or run code that is not read."""

_FILES = re.compile(
    r"\bchdir\b|\bopen\([^\n]*['\"][wax]|\bwrite_(?:text|bytes)\b|\bshutil\b|\bsymlink|\bextractall\b"
    r"|\bos\.system\b|\bsubprocess\b"
)
_VARIABLE = re.compile(
    r"\benviron\[['\"](?P<stored>\w+)['\"]\]\s*=(?!=)|\benviron\.setdefault\(\s*['\"](?P<default>\w+)['\"]"
    r"|\bputenv\(\s*['\"](?P<put>\w+)['\"]"
    r"|(?P<read>\benviron(?:\.(?:get|copy|items|keys|values)\(|\[['\"]\w+['\"]\]|\)|:|[ \t]*$)"
    r"|\bin\s+(?:os\.)?environ\b)"
    r"|(?P<other>\benviron\b|\bputenv\b|\bdotenv\b)",
    re.MULTILINE,
)
_ANY_NAME = "*"
_MUTATIONS = frozenset({"append", "extend", "insert", "update", "setdefault", "add", "pop", "remove", "clear"})
_IMPORT = re.compile(r"(?:import|from)\b")
_NO_MEMBER = re.compile(r"(?:cannot import name '(\w+)' from|module '[\w.]+' has no attribute '(\w+)')")


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierChanges:
    """What code may have changed. ``variables``, ``names``: those of the environment, and attributes of modules.

    ``is_any``: where modules are found. ``has_more``: the directory, files, or values that modules share.
    """

    is_any: bool = False
    has_more: bool = False
    variables: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def may_cure(self, raised: Raised | None, module: str) -> bool:
        """Return whether an import that fails in a process of its own may succeed after the changes."""
        if self.is_any:
            return True
        if raised is not None:
            if "ModuleNotFoundError" in raised.kinds and raised.module == module:
                return False
            member = _NO_MEMBER.search(raised.message)
            if member is not None:
                return bool({member[1] or member[2], _ANY_NAME} & self.names)
            if raised.kind == "KeyError" and not self.names and not self.has_more:
                return bool({raised.message.strip("'\""), _ANY_NAME} & self.variables)
        return self.has_more or bool(self.variables or self.names)


def changes_before(module: str, place: Span | None, texts: Sequence[SourceText]) -> EarlierChanges:
    """Return what may have changed when a module is imported. ``texts``: the script, then what it can import.

    ``place``: the line of the import, if it is known.
    """
    if not texts:
        return EarlierChanges()
    script = texts[0]
    lines = script.text.splitlines()
    line = _first_line(module, script.text) if place is None else None
    if place is not None and place.file == script.name and _IMPORT.match("".join(lines[place.line - 1 : place.line])):
        line = place.line
    read = ["\n".join(lines if line is None else lines[: line - 1])]
    rest = {text.name: (_stem(text.name), text.text) for text in texts[1:]}
    for text in read:  # grows below
        for name in [name for name, (stem, _) in rest.items() if re.search(rf"\b{re.escape(stem)}\b", text)]:
            read.append(rest.pop(name)[1])
    return _merged(map(_changes, read))


def _stem(name: str) -> str:
    return re.split(r"[/\\]", name.removesuffix("/__init__.py"))[-1].removesuffix(".py")


def _first_line(module: str, text: str) -> int | None:
    """Return the line of the script's own import of a module, outside of functions; None if there is none."""
    found = re.search(rf"^(?:import|from)[ \t]+{re.escape(module)}\b", text, re.MULTILINE)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def _merged(found: Iterable[EarlierChanges]) -> EarlierChanges:
    every = [*found]
    return EarlierChanges(
        is_any=any(each.is_any for each in every),
        has_more=any(each.has_more for each in every),
        variables=frozenset().union(*(each.variables for each in every)),
        names=frozenset().union(*(each.names for each in every)),
    )


def _changes(text: str) -> EarlierChanges:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return EarlierChanges(is_any=True)
    variables = {
        found["stored"] or found["default"] or found["put"] or _ANY_NAME
        for found in _VARIABLE.finditer(text)
        if found["read"] is None
    }
    names, is_shared = _stores(tree)
    return EarlierChanges(
        is_any=bool(_ANY.search(text)),
        has_more=is_shared or bool(_FILES.search(text)),
        variables=frozenset(variables),
        names=frozenset(names),
    )


def _stores(tree: ast.Module) -> tuple[set[str], bool]:
    """Return the attributes that a file sets in modules, and whether it changes other values that modules share."""
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    own = {node.id for each in tree.body for node in _outside(each) if isinstance(node.ctx, ast.Store)}
    inner = {node for each in ast.walk(tree) if isinstance(each, _FUNCTIONS) for node in ast.walk(each)}
    names: set[str] = set()
    is_shared = False
    for node in ast.walk(tree):
        is_shared = is_shared or isinstance(node, ast.Global)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            root, name = _root(node), node.attr if isinstance(node, ast.Attribute) else None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATIONS:
            root, name = _root(node.func), None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
            value = node.args[1] if len(node.args) > 1 else None
            is_known = isinstance(value, ast.Constant) and isinstance(value.value, str)
            root, name = _root(node.args[0]), str(value.value) if is_known else _ANY_NAME  # type: ignore[union-attr]
        else:
            continue
        if root in imported and name is not None:
            names.add(name)
        elif (root in imported and root not in _READ_ABOVE) or (root in own and node in inner):
            is_shared = True
    return names, is_shared


_READ_ABOVE = ("os", "environ", "sys")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _outside(statement: ast.stmt) -> Iterable[ast.Name]:
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return ()
    return (node for node in ast.walk(statement) if isinstance(node, ast.Name))


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
