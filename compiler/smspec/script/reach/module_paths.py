"""Where a script makes Python search for modules besides its own directory, and whether it may install any."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from smspec.script.reach import INSTALLERS
from smspec.script.script_files import nodes_of
from smspec.source.frozen import dataclass

_ATTRIBUTES = ("path", "modules", "meta_path", "path_hooks", "__dict__")
_IMPORTS = ("__import__", "import_module", "importlib.import_module")
_OPENS = re.compile(
    r"\b(?:meta_path|path_hooks|addsitedir|extend_path|zipimport|zipimporter|PYTHONPATH|entry_points)\b"
    r"|\bsys\s*\.\s*modules\b|\b__path__\b|\bfrom\s+sys\s+import\b"
)
_CODE = "/opt/ml/code"
_SAME = frozenset({"os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser", "str", "os.fspath"})
_SAME_METHODS = frozenset({"resolve", "absolute", "as_posix", "expanduser"})
_PATHS = frozenset({"Path", "pathlib.Path", "PurePath"})

# `camera-pip/video.mp4` does not run pip, `/usr/bin/pip` may.
_NAMED = re.compile(r"(?<![-\w])(?:pip3?|conda|mamba|uv|easy_install)(?![-/\w])")
_SHOWN_BY = frozenset(
    {"critical", "debug", "echo", "error", "exception", "exit", "fatal", "info", "log", "print", "require_version"}
    | {"warn", "warning"}
)
"""The last parts of functions that show their strings and run none."""

_TEXTS = frozenset({"description", "epilog", "help"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModulePaths:
    """``places``: directories of the source that a module adds. ``is_open``: it may add others, or install packages."""

    places: tuple[str, ...] = ()
    is_open: bool = False


def module_paths(text: str, tree: ast.Module, file: str) -> ModulePaths:
    """Return what a module adds to the directories for modules; ``file`` is its path in the source."""
    if _OPENS.search(text) or (re.search(INSTALLERS, text) and runs_an_installer(tree)):
        return ModulePaths(is_open=True)
    paths = _Paths(tree, file)
    names = _names_of_sys(tree)
    places: list[str] = []
    known: set[int] = set()
    uses: list[ast.AST] = []
    for node in nodes_of(tree):
        match node:
            case ast.Attribute(value=owner, attr="path" | "modules" | "meta_path" | "path_hooks" | "__dict__" as attr):
                if _is_sys(owner, names):
                    uses.append(node)
                    known |= {id(owner)}
                    if attr != "path":
                        return ModulePaths(is_open=True)
            case ast.Attribute(value=ast.Name() as owner):
                known.add(id(owner))
            case ast.Compare(comparators=others):
                known |= {id(part) for part in others}
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[owner, ast.Constant(value=str() as attr), *_]):
                known |= {id(owner)} if attr not in _ATTRIBUTES else set()
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute() as path, attr="append" | "insert"), args=[*_, place]
            ):
                if path.attr == "path" and _is_sys(path.value, names) and (found := paths.of(place)) is not None:
                    places.append(found)
                    known.add(id(path))
            case ast.Call(func=func, args=[ast.Constant(value="sys"), *_]) if _dotted(func) in _IMPORTS:
                return ModulePaths(is_open=True)
            case ast.Name(id=name, ctx=ast.Load()) if name in names:
                uses.append(node)
    return ModulePaths(places=tuple(dict.fromkeys(places)), is_open=any(id(use) not in known for use in uses))


def _names_of_sys(tree: ast.Module) -> set[str]:
    """Return the names under which a module has `sys`."""
    nodes = (node for node in nodes_of(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return {alias.asname or alias.name for node in nodes for alias in node.names if alias.name == "sys"}


def _is_sys(node: ast.expr, names: set[str]) -> bool:
    """Return whether an expression is `sys`, or what a module has under that name, as `os.sys`."""
    return (isinstance(node, ast.Name) and node.id in {"sys", *names}) or (
        isinstance(node, ast.Attribute) and node.attr == "sys"
    )


class _Paths:
    """Paths in the source that expressions of a module are; absolute and unknown ones are None."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        self._file = file
        self._names: dict[str, ast.expr | None] = {}
        self._depth = 0
        for node in tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                self._names[name] = None if name in self._names else node.value

    def of(self, node: ast.expr) -> str | None:
        """Return the directory that an expression is, relative to the source; None for any other."""
        if self._depth > 20:
            return None
        self._depth += 1
        found = self._path(node)
        self._depth -= 1
        if found is None:
            return None
        if found == _CODE or found.startswith(f"{_CODE}/"):
            found = found[len(_CODE) + 1 :]
        found = posixpath.normpath(found)
        return None if found.startswith(("/", "..")) else "" if found == "." else found

    def _path(self, node: ast.expr) -> str | None:
        match node:
            case ast.Constant(value=str() as text):
                return text or "."
            case ast.Name(id="__file__"):
                return self._file
            case ast.Name(id=name):
                value = self._names.get(name)
                return None if value is None else self.of(value)
            case ast.Call(func=func, args=[]) if _dotted(func) in ("os.getcwd", "Path.cwd", "pathlib.Path.cwd"):
                return "."
            case ast.Call(func=func, args=[inner]) if _dotted(func) in _SAME | _PATHS:
                return self.of(inner)
            case ast.Call(func=func, args=[inner]) if _dotted(func) == "os.path.dirname":
                return self._above(inner)
            case ast.Call(func=func, args=[first, *rest]) if _dotted(func) == "os.path.join":
                return self._joined(first, rest)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[]) if name in _SAME_METHODS:
                return self.of(owner)
            case ast.Attribute(value=owner, attr="parent"):
                return self._above(owner)
            case ast.Subscript(value=ast.Attribute(value=owner, attr="parents"), slice=ast.Constant(value=int() as up)):
                found = self.of(owner)
                steps = [] if found is None else found.split("/")
                return "/".join(steps[: len(steps) - up - 1]) or "." if 0 <= up < len(steps) else None
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._joined(left, [right])
        return None

    def _above(self, node: ast.expr) -> str | None:
        found = self.of(node)
        return posixpath.dirname(found) or "." if found else None

    def _joined(self, first: ast.expr, rest: list[ast.expr]) -> str | None:
        found = self.of(first)
        for part in rest:
            if found is None or not isinstance(part, ast.Constant) or not isinstance(part.value, str):
                return None
            found = posixpath.join(found, part.value)
        return found


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def runs_an_installer(tree: ast.Module) -> bool:
    """Return whether a module names an installer in more than the texts that it shows, such as messages."""
    shown = {id(node) for node in _shown(tree)}
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in shown and _NAMED.search(node.value):
                return True
        elif isinstance(node, ast.alias | ast.ImportFrom):
            name = node.name if isinstance(node, ast.alias) else node.module or ""
            if _NAMED.fullmatch(name.partition(".")[0]):
                return True
    return False


def _shown(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the strings that a module only shows: docstrings, messages, and descriptions of arguments."""
    for node in nodes_of(tree):
        match node:
            case ast.Expr(value=ast.Constant() as text):
                yield text
            case ast.Raise(exc=ast.Call(args=args)):
                yield from _strings(args)
            case ast.Assert(msg=ast.expr() as text):
                yield from _strings([text])
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _SHOWN_BY:
                yield from _strings(args)
            case ast.keyword(arg=str() as name, value=text) if name in _TEXTS:
                yield from _strings([text])
            case ast.Dict(keys=keys, values=values):
                for key, text in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in _TEXTS:
                        yield from _strings([text])


def _strings(nodes: list[ast.expr]) -> Iterator[ast.expr]:
    """Yield the constants that expressions consist of; calls in them may run what they get."""
    for node in nodes:
        match node:
            case ast.Constant():
                yield node
            case ast.JoinedStr(values=parts):
                yield from _strings(parts)
            case ast.BinOp(left=left, right=right):
                yield from _strings([left, right])
            case ast.Call(func=ast.Attribute(value=ast.Constant() as text, attr="format"), args=args):
                yield from _strings([text, *args])
