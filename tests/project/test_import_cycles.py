"""Modules have no import cycles."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TYPES_ALONE = {
    "smspec.script.follow": "the interpreter, values, and calls are defined by each other; none imports one to run",
}
"""Packages in which modules may name each other's types under ``TYPE_CHECKING``, and why."""


def modules(root):
    """Return the modules below a directory, by their names."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def nodes(tree, *, types):
    """Yield the nodes of a module, those below ``if TYPE_CHECKING`` only when ``types`` is true."""
    waiting = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if types or not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
                yield child
                if not isinstance(child, ast.expr):  # no import is in one
                    waiting.append(child)


def imports(name, path, known, *, types):
    """Return which of the ``known`` modules a module imports, at its top or inside of its functions."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in nodes(ast.parse(path.read_text(encoding="utf-8")), types=types):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            origin = ".".join([*above, *filter(None, [node.module])])
            submodules = {f"{origin}.{alias.name}" for alias in node.names}
            found |= submodules & known.keys() or {origin}
    return (found & known.keys()) - {name}


def circles(graph):
    """Return the sets of nodes of which each leads to each other one."""
    below = {}
    for start in graph:
        below[start], waiting = set(), [start]
        while waiting:
            for following in graph[waiting.pop()] - below[start]:
                below[start].add(following)
                waiting.append(following)
    return {
        frozenset(other for other in graph if start in below[other] and other in below[start]) for start in graph
    } - {frozenset()}


def graph_of(directory, *, types):
    known = modules(ROOT / directory)
    return {name: imports(name, path, known, types=types) for name, path in known.items()}


@pytest.mark.parametrize("directory", ["compiler", "runtime"])
def test_modules_have_no_import_cycles(directory):
    """Not even inside of functions, where a circle would only show when it is run."""
    graph = graph_of(directory, types=False)
    assert sum(map(len, graph.values())) > len(graph), "the imports were found"
    assert circles(graph) == set()


@pytest.mark.parametrize("directory", ["compiler", "runtime"])
def test_type_import_cycles_are_listed(directory):
    found = circles(graph_of(directory, types=True))
    unlisted = [
        sorted(circle) for circle in found if not {name.rpartition(".")[0] for name in circle} <= TYPES_ALONE.keys()
    ]
    assert unlisted == []
    if directory == "compiler":
        assert found, "an exception that nothing needs is removed"


def test_import_cycles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == {frozenset("abc")}
    assert circles({"a": {"b"}, "b": set()}) == set()
