"""The digest of the templates: a changed template changes the image."""

import ast
import importlib
import shutil
from pathlib import Path

import pytest

RENDER = Path(__file__).parents[3] / "compiler/smspec/render"
module = importlib.import_module("smspec.render")


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return the digest of a copy of the sources, which may be changed."""
    shutil.copytree(RENDER, tmp_path / "render", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "_HERE", str(tmp_path / "render"))
    return module.templates_digest.__wrapped__


def test_digest_covers_the_template_sources(digest):
    assert digest() == module.templates_digest.__wrapped__() == module.templates_digest()


@pytest.mark.parametrize("name", module._MODULES)
def test_every_part_changes_the_digest(digest, tmp_path, name):
    before = digest()
    with open(tmp_path / "render" / name, "a") as file:
        file.write("\n")
    assert digest() != before


def test_every_imported_module_is_part_of_the_digest():
    """Whatever the renderer imports from their own package, directly or not."""
    waiting, found = ["dockerfile.py"], set()
    while waiting:
        name = waiting.pop()
        found.add(name)
        for node in ast.walk(ast.parse((RENDER / name).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("smspec.render"):
                names = (
                    [alias.name for alias in node.names]
                    if node.module == "smspec.render"
                    else [node.module.split(".")[2]]
                )
                waiting += [f"{part}.py" for part in names if f"{part}.py" not in found]
    assert found == set(module._MODULES)
