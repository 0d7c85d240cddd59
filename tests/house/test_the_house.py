"""How the sources are kept: small files, nouns for names, docstrings, no loose ends."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [path for root in ("compiler", "runtime", "schemas") for path in sorted((ROOT / root).rglob("*.py"))]
PYTHON = SOURCES + sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "specs").rglob("*.py"))
VAGUE = {"util", "utils", "helper", "helpers", "misc", "common", "base", "manager", "stuff", "tools"}


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "path", [p for p in PYTHON if "__pycache__" not in p.parts and "build" not in p.parts], ids=relative
)
def test_a_file_is_one_noun_of_at_most_400_lines(path):
    assert len(path.read_text().splitlines()) <= 400
    assert path.stem not in VAGUE


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_every_module_says_what_lives_in_it(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_nothing_is_left_open(path):
    text = path.read_text()
    assert not [word for word in ("TODO", "FIXME", "XXX", "NotImplementedError") if word in text]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_broad_handlers_stand_only_at_the_two_doors(path):
    """``except Exception`` belongs where a process ends: the runtime's main and the command line."""
    if relative(path) in {"runtime/smspec_runtime/main.py", "compiler/smspec/cli/__init__.py"}:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ExceptHandler):
            names = {name.id for name in ast.walk(node.type or ast.Name("BaseException")) if isinstance(name, ast.Name)}
            assert not names & {"Exception", "BaseException"}, f"line {node.lineno}"
