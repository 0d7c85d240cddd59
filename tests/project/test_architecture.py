"""Conventions of the sources: small files, nouns as names, and docstrings."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [path for root in ("compiler", "runtime", "schemas") for path in sorted((ROOT / root).rglob("*.py"))]
PYTHON = [
    path
    for path in SOURCES + sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "specs").rglob("*.py"))
    if "__pycache__" not in path.parts and "build" not in path.parts
]
VAGUE = {"util", "utils", "helper", "helpers", "misc", "common", "base", "manager", "stuff", "tools"}
LOOSE_ENDS = ("TODO", "FIXME", "XXX", "NotImplementedError")
DOORS = {
    "runtime/smspec_runtime/main.py",
    "compiler/smspec/cli/__init__.py",
    "compiler/smspec/editor/checking.py",  # the thread of a server: an error in one check may not end the others
}

TWINS = {"ListedFile"}
"""A file of a source, and one of a package index: both listings are called so, and no module knows both."""


def text(path):
    return path.read_text(encoding="utf-8")


def refuse(paths):
    """Fail with the paths, if there are any."""
    found = [str(path.relative_to(ROOT)) for path in paths]
    assert not found, "\n".join(found)


def test_file_has_at_most_400_lines():
    refuse(path for path in PYTHON if len(text(path).splitlines()) > 400)


def test_file_is_named_by_a_noun():
    refuse(path for path in PYTHON if path.stem in VAGUE)


def test_every_module_has_a_docstring():
    refuse(path for path in SOURCES if not ast.get_docstring(ast.parse(text(path))))


def test_no_file_contains_todo_marks():
    refuse(path for path in SOURCES if any(word in text(path) for word in LOOSE_ENDS))


def is_broad(handler):
    """Return whether a handler catches every exception."""
    caught = ast.walk(handler.type or ast.Name("BaseException"))
    return bool({name.id for name in caught if isinstance(name, ast.Name)} & {"Exception", "BaseException"})


def test_broad_handlers_are_only_at_entry_points():
    """``except Exception`` belongs where a process or a thread ends."""
    broad = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(text(path)))
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    ]
    elsewhere = [place for place in broad if place.partition(":")[0] not in DOORS]
    assert not elsewhere, "\n".join(elsewhere)
    assert broad, "the doors have theirs"


def test_names_of_public_classes_are_unique():
    """So that a search for a name finds one class. `TWINS` may only become shorter."""
    found = Counter(
        node.name
        for path in SOURCES
        if path.is_relative_to(ROOT / "compiler" / "smspec")
        for node in ast.parse(text(path)).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, times in found.items() if times > 1} <= TWINS
    assert max(found.values()) <= 2
