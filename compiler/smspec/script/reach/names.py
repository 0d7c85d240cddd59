"""The names that a module of the source has, or certainly lacks, and those that Python's library takes from it.

The table has what modules of Python's library take from each other when they are imported, in each version from 3.8 to
3.13. A module of the source with the same name comes first: without the name, the import fails. It is from imports
beside a copy that lacks one name. A module that an interpreter may import before the script is not in it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from smspec.script.follow.code import may_end_well
from smspec.script.handlers import lacks
from smspec.script.reach.certain_code import TAMPERS
from smspec.script.script_files import nodes_of

_ANY_NAME = re.compile(rf"{TAMPERS}|\b(?:exec|globals|locals|setattr|vars)\b|\bimport\s*\*")

_EMAIL = ("email.message", "http.client", "http.server", "smtplib", "urllib.request")
_LOGGING = ("asyncio", "concurrent.futures", "logging", "logging.config", "logging.handlers")

TAKEN: dict[str, dict[str, tuple[str, ...]]] = {
    "copy": {"deepcopy": ("smtplib", "xml.etree.ElementTree")},
    "logging": {"getLogger": ("asyncio", "concurrent.futures")},
    "numbers": {"Rational": ("fractions", "statistics")},
    "queue": {"Queue": ("multiprocessing.managers",)},
    "random": {
        "Random": ("multiprocessing.managers", "multiprocessing.pool", "tempfile", "urllib.request"),
        "SystemRandom": ("secrets",),
    },
    "socket": {
        "socket": ("asyncio", "multiprocessing", "multiprocessing.managers", "multiprocessing.pool", "ssl"),
        "_GLOBAL_DEFAULT_TIMEOUT": ("http.client", "http.server", "smtplib", "urllib.request"),
    },
    "string": {"Template": _LOGGING, "ascii_letters": _EMAIL},
    "token": {"EXACT_TOKEN_TYPES": ("asyncio", "dataclasses", "inspect", "unittest")},
}
"""Module → name in it → the modules that cannot be imported without it."""


def may_have(tree: ast.Module | None, text: str, name: str) -> bool:
    """Return whether a module may have a name."""
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


def first_lacked(tree: ast.Module, text: str, node: ast.Import | ast.ImportFrom, alias: str) -> str | None:
    """Return the first name that a file takes from itself, by an import or as an attribute of ``alias``, and lacks."""
    used = attributes_of(tree, alias) if alias else [one.name for one in node.names if one.name != "*"]
    return next((name for name in used if not binds(tree, text, name, node)), None)


def attributes_of(tree: ast.Module, module: str) -> list[str]:
    """Return the attributes that a file reads of a module that it imports."""
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    found = [node.attr for node in uses if isinstance(node.value, ast.Name) and node.value.id == module]
    return [name for name in found if not name.startswith("__")]


def binds(tree: ast.Module, text: str, name: str, but: ast.stmt) -> bool:
    """Return whether a file may have a name from anything except one statement."""
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


def taken_by(name: str) -> Iterator[tuple[str, str]]:
    """Yield the modules, each with a name in it, that an import of a module of Python's library needs."""
    parts = name.split(".")
    above = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    for module, names in TAKEN.items():
        yield from ((module, each) for each, users in names.items() if not above.isdisjoint(users))


class Enders:
    """The names of the functions that may end the script without a failure, and of those that name one."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._uses: list[tuple[str, set[str]]] = []

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, tree: ast.Module) -> None:
        """Add the functions of a module."""
        for node in nodes_of(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if any(map(may_end_well, node.body)):
                    self._names.add(node.name)
                parts = [one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)]
                self._uses.append((node.name, {one.id if isinstance(one, ast.Name) else one.attr for one in parts}))
        grown = -1
        while self._names and grown != len(self._names):
            grown = len(self._names)
            self._names |= {name for name, used in self._uses if not used.isdisjoint(self._names)}
